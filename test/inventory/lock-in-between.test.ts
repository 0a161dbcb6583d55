import { Client } from 'pg'
import { expect, test } from 'vitest'
import { syncInventory } from '#src/inventory/sync.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { ON_VERSIONS } from '#test/support/locks.ts'
import { waitFor } from '#test/support/wait-for.ts'
import {
  ended,
  hand,
  handOn,
  restarted,
  rules,
  scriptedAccount,
  syncListed,
  upTo,
  withAccounts,
} from './scripted-account.ts'

const NEVER = new AbortController().signal
const LOCKS = `select from pg_locks where ${ON_VERSIONS}`

test('a lock that waits for a run, and for which its comparisons wait, fails the run in time and is then granted', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { pool } = harness.ferry
  Object.assign(pool, { begin: (pool as typeof pool & { begin: string }).begin.replace('60s', '500ms') })
  const ids = upTo(12_000)
  await syncListed(harness, [rules(ids, { name: 'old' })])

  // What a person does who writes the table anew.
  await using opened = new AsyncDisposableStack()
  const person = new Client({ connectionString: harness.databaseUrl })
  await person.connect()
  opened.defer(() => person.end())
  await person.query('begin')
  const isRunWriting = async () =>
    (await harness.query(`${LOCKS} and mode = 'RowExclusiveLock' and granted`)).length > 0
  const isPersonWaiting = async () => (await harness.query(`${LOCKS} and not granted`)).length > 0

  const changed = rules(ids, { name: 'new' })
  const account = scriptedAccount('default', () => [])
  let locking: Promise<unknown> = Promise.resolve()
  const run = await syncInventory(
    withAccounts(restarted(harness), {
      ...account,
      client: {
        ...account.client,
        async *listAlertRules(_folder, find) {
          yield* hand(changed.slice(0, 9_000), find)
          await waitFor(isRunWriting, { what: 'the changes to be written' })
          locking = person.query('lock table ferry.alert_rule_versions')
          await waitFor(isPersonWaiting, { what: 'the lock to be waited for' })
          yield ended(yield* handOn(changed.slice(9_000), find))
        },
      },
    }),
    { account: 'default', resource: 'alert-rules', trigger: 'manual' },
    NEVER,
  ).catch(error => error)
  expect(run).toMatchObject({ code: '55P03' })
  await locking
  await person.query('rollback')
  expect(await harness.query('select distinct name from ferry.alert_rules')).toEqual([{ name: 'old' }])
})
