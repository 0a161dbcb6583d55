import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { syncInventory } from '#src/inventory/sync.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { ON_VERSIONS } from '#test/support/locks.ts'
import { ageRuns } from '#test/support/runs.ts'
import { ageRuleVersions } from '#test/support/versions.ts'
import { waitFor } from '#test/support/wait-for.ts'
import {
  ended,
  hand,
  type Listed,
  rules,
  scriptedAccount,
  syncListed,
  upTo,
  withAccounts,
} from './scripted-account.ts'

/*
 * Who asks again and again for what is new, as docs/sql.md says, misses nothing and gets nothing twice.
 */

const SMALL = { rules: 0, servers: 0 }
/** So many that they are written, at an instant of then, while the rest is still being read. */
const MANY = 5_000

const CHANGE = 'account, id::int as id, run_id::text as run, change, observed_at::text as at'

/** Asks for what is new, and keeps the instant of the last row. */
function openPoller(harness: FerryHarness) {
  let last = '-infinity'
  const got: Record<string, unknown>[] = []
  return {
    got,
    async poll() {
      const rows = await harness.query<{ at: string }>(
        `select ${CHANGE} from ferry.alert_rule_changes
         where observed_at > $1 and observed_at <= (select ferry.settled_at()) order by observed_at`,
        [last],
      )
      got.push(...rows)
      last = rows.at(-1)?.at ?? last
      return rows.length
    },
  }
}

async function allChanges(harness: FerryHarness) {
  return harness.query(`select ${CHANGE} from ferry.alert_rule_changes`)
}

function sorted(rows: readonly Record<string, unknown>[]): string[] {
  return rows.map(row => JSON.stringify(row)).sort()
}

/** Syncs an account that lists `rows` once `begun` has resolved, and ends its listing when told. */
function syncSlowly(harness: FerryHarness, name: string, rows: readonly Listed[], begun = Promise.resolve()) {
  const { promise: rest, resolve: end } = Promise.withResolvers<void>()
  const account = scriptedAccount(name, () => [])
  const listAlertRules: PlatformClient['listAlertRules'] = async function* (_, find) {
    await begun
    const answer = yield* hand(rows, find)
    await rest
    yield ended(answer)
  }
  const context = withAccounts(harness, { ...account, client: { ...account.client, listAlertRules } })
  const request = { account: name, resource: 'alert-rules', trigger: 'manual' } as const
  return { run: syncInventory(context, request, new AbortController().signal), end }
}

const isWriting = (harness: FerryHarness) =>
  waitFor(
    async () =>
      (await harness.query(`select from pg_locks where ${ON_VERSIONS} and mode = 'RowExclusiveLock'`)).length,
    { what: 'the changes to be written' },
  )

const settledAt = async (harness: FerryHarness) =>
  (await harness.query<{ at: string }>('select ferry.settled_at()::text as at'))[0]!.at

test('what is written while a long listing is read is not settled before it is visible', async () => {
  await using harness = await openFerryHarness(SMALL)
  expect(await settledAt(harness)).toBe('-infinity')
  const poller = openPoller(harness)
  const slow = syncSlowly(harness, 'slow', rules(upTo(MANY)))
  await isWriting(harness)
  await syncListed(harness, [rules([1])], { account: 'quick' })
  // It is later than what the other run will publish, so it has to wait.
  expect(await poller.poll()).toBe(0)
  slow.end()
  await slow.run
  expect(await poller.poll()).toBe(MANY + 1)
  expect(poller.got.at(-1)).toMatchObject({ account: 'quick' })
  expect(await poller.poll()).toBe(0)
})

test('a run that failed, changed nothing or was lost holds nothing up once it has ended', async () => {
  await using harness = await openFerryHarness(SMALL)
  const applied = async () =>
    (await harness.query<{ at: string }>('select max(applied_at)::text as at from ferry.sync_runs'))[0]!.at
  await syncListed(harness, [rules([1])])
  await syncListed(harness, [rules([1])])
  expect(await settledAt(harness)).toBe(await applied())
  harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' })
  expect(await harness.sync()).toMatchObject({ status: 'failed' })
  expect(await settledAt(harness)).toBe(await applied())
  await harness.query(
    `insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status, lease_token)
     values ('default', 'alert-rules', 'manual', '{}', '', 1, 'running', gen_random_uuid())`,
  )
  await syncListed(harness, [rules([1, 2])], { account: 'other' })
  const [{ at: lost } = { at: '' }] = await harness.query<{ at: string }>(
    `select (started_at - interval '1 microsecond')::text as at from ferry.sync_runs where status = 'running'`,
  )
  expect(await settledAt(harness)).toBe(lost)
  await syncListed(harness, [rules([1, 2])])
  expect(await settledAt(harness)).toBe(await applied())
})

test('after the clock was set back nothing is written where somebody has looked', async () => {
  await using harness = await openFerryHarness(SMALL)
  const poller = openPoller(harness)
  await syncListed(harness, [rules([1])], { account: 'before' })
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const slow = syncSlowly(harness, 'slow', rules(upTo(MANY)), begun)
  await waitFor(
    async () => (await harness.query('select from ferry.sync_runs where finished_at is null')).length,
    {
      what: 'the run to begin',
    },
  )
  // As if the clock had been an hour ahead until now.
  for (const age of [ageRuns, ageRuleVersions]) await age(harness.ferry.pool, '-1 hour')
  expect(await poller.poll()).toBe(1)
  begin()
  await isWriting(harness)
  await syncListed(harness, [rules([1])], { account: 'after' })
  await poller.poll()
  slow.end()
  await slow.run
  await poller.poll()
  expect(sorted(poller.got)).toEqual(sorted(await allChanges(harness)))
  expect(poller.got).toHaveLength(MANY + 2)
})

/** How many rules the accounts list, one sync after the other; a new name each time. */
const STEPS = { large: [MANY, MANY], small: [3, 3, 4, 2, 3, 3], other: [30, 1, 30, 30] }

test('whoever syncs at the same time, a poller misses nothing and gets nothing twice, and what was settled stays', async () => {
  await using harness = await openFerryHarness(SMALL)
  let sequence = 0
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.nat(40)), async pauses => {
      sequence += 1
      let isOver = false
      const syncs = Object.entries(STEPS).map(async ([name, sizes]) => {
        for (const [step, size] of sizes.entries()) {
          await delay(pauses.next().value)
          const listed = rules(upTo(size), { name: `name ${step}` })
          await syncListed(harness, [listed], { account: `${name} ${sequence}`, acceptRemovals: true })
        }
      })
      const over = Promise.all(syncs).finally(() => {
        isOver = true
      })
      const poller = openPoller(harness)
      const looks = new Map<string, unknown>()
      const asOf = async (at: string) =>
        harness.query(
          `select count(*), md5(string_agg(account || id || name, ',' order by account, id)) from ferry.alert_rules_as_of($1)`,
          [at],
        )
      while (!isOver) {
        await poller.poll()
        const at = await settledAt(harness)
        if (!looks.has(at)) looks.set(at, await asOf(at))
        await delay(pauses.next().value)
      }
      await over
      await poller.poll()
      expect(sorted(poller.got)).toEqual(sorted(await allChanges(harness)))
      for (const [at, rows] of looks) expect(await asOf(at)).toEqual(rows)
      expect(looks.size).toBeGreaterThan(1)
    }),
    { numRuns: 2, seed: 20261123 },
  )
})
