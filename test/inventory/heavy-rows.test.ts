import { expect, test } from 'vitest'
import { syncInventory } from '#src/inventory/sync.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { ON_VERSIONS } from '#test/support/locks.ts'
import { openScriptedPlatform, success } from '#test/support/scripted-platform.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { alertRuleWire } from '#test/support/wire.ts'
import { currentIds, scriptedAccount, upTo, withAccounts } from './scripted-account.ts'

/** Almost as long as a row may be. */
const NAME_BYTES = 1_000_000
const ROWS = 12

test('a dozen rows of a megabyte are written while the listing is still being read, as many small ones are', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const body = JSON.stringify(
    success(upTo(ROWS).map(id => alertRuleWire({ id, name: `${id % 10}`.repeat(NAME_BYTES) }))),
  )
  const rest = Promise.withResolvers<void>()
  await using platform = await openScriptedPlatform(async (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write(body.slice(0, -1))
    await rest.promise
    response.end(body.slice(-1))
  })
  const account = { ...scriptedAccount('default', () => []), client: platform.client }
  const run = syncInventory(
    withAccounts(harness, account),
    { account: 'default', resource: 'alert-rules', trigger: 'manual' },
    new AbortController().signal,
  )
  await waitFor(
    async () =>
      (await harness.query(`select from pg_locks where ${ON_VERSIONS} and mode = 'RowExclusiveLock'`)).length,
    { what: 'the rows to be written' },
  ).finally(rest.resolve)
  expect(await currentIds(harness)).toEqual([])
  expect(await run).toMatchObject({ status: 'succeeded', added: ROWS })
  expect(await currentIds(harness)).toEqual(upTo(ROWS))
})
