import { expect, test } from 'vitest'
import { recordWorker } from '#src/db/workers.ts'
import { areAllFresh, listLate, loadFreshness, loadLate } from '#src/reports/freshness.ts'
import {
  type FreshnessTarget,
  listNightTargets,
  listNightTimes,
  listTargetedAccounts,
  saveFreshnessTargets,
} from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun, ageRuns, NEW_RUN } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

const HOUR_MS = 3_600_000

const MCP_TARGET: FreshnessTarget = {
  ...FRESHNESS_TARGET,
  resource: 'mcp-servers',
  schedule: 'snapshot-inventory',
  targetMs: 25 * HOUR_MS,
  folders: null,
}
const MCP_RUN = { resource: 'mcp-servers', scope: { ...NEW_RUN.scope, folders: null } } as const

test('each inventory is shown with all that is known of its freshness', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, keySetting: 'FERRY_APP_KEY' }, MCP_TARGET])
  const held = await addRun(pool, { ...MCP_RUN, end: { status: 'held', removed: 1 } })
  await ageRuns(pool, '2 hours')
  await addRun(pool, { account: 'other' })
  const complete = await addRun(pool)
  await ageRuns(pool, '10 minutes', complete)
  const failed = await addRun(pool, {
    end: { status: 'failed', appliedAt: null, errorCode: 'Unauthorized', requestId: 'r-1' },
  })
  await recordWorker(pool, 'a worker', null, ['default'])
  const nothingWrong = {
    whyLate: null,
    lastFailedRun: null,
    errorCode: null,
    requestId: null,
    isAbandoned: false,
    keySetting: null,
  }
  const rows = await loadFreshness(pool)
  expect(rows).toEqual([
    {
      account: 'default',
      inventory: 'alert-rules',
      lastCompleteAt: expect.any(Date),
      lastCompleteRun: complete,
      ageMs: expect.any(Number),
      targetMs: 180_000,
      schedule: 'poll-alert-rules',
      state: 'late',
      whyLate: 'failed',
      lastFailedRun: failed,
      errorCode: 'Unauthorized',
      requestId: 'r-1',
      isAbandoned: false,
      hasWorker: true,
      keySetting: 'FERRY_APP_KEY',
    },
    {
      ...nothingWrong,
      account: 'default',
      inventory: 'mcp-servers',
      lastCompleteAt: expect.any(Date),
      lastCompleteRun: held,
      ageMs: expect.any(Number),
      targetMs: 25 * HOUR_MS,
      schedule: 'snapshot-inventory',
      state: 'fresh',
      hasWorker: true,
    },
    {
      ...nothingWrong,
      account: 'other',
      inventory: 'alert-rules',
      lastCompleteAt: expect.any(Date),
      lastCompleteRun: expect.any(BigInt),
      ageMs: expect.any(Number),
      targetMs: null,
      schedule: null,
      state: 'no target',
      hasWorker: false,
    },
  ])
  const minutes = rows.map(({ ageMs }) => Math.floor((ageMs ?? 0) / 60_000))
  expect(minutes[0]).toBeGreaterThanOrEqual(10)
  expect(minutes[0]).toBeLessThan(20)
  expect(minutes[1]).toBeGreaterThanOrEqual(120)
  expect(minutes[1]).toBeLessThan(130)
  expect(rows[0]?.lastCompleteAt?.getTime()).toBeLessThan(Date.now() - 600_000 + 1_000)
})

test('the last run that failed since the last complete one explains why an inventory is late', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [FRESHNESS_TARGET])
  const fail = (errorCode: string) => addRun(pool, { end: { status: 'failed', appliedAt: null, errorCode } })
  const why = async () =>
    (await loadFreshness(pool)).map(({ whyLate, lastFailedRun, errorCode }) => [
      whyLate,
      lastFailedRun,
      errorCode,
    ])
  await fail('NoAnswer')
  await addRun(pool)
  await ageRuns(pool, '1 hour')
  expect(await why()).toEqual([['no run', null, null]])
  await fail('NotSent')
  const last = await fail('Unauthorized')
  expect(await why()).toEqual([['failed', last, 'Unauthorized']])
})

test('a worker of an older version may have any account; one that is silent has none', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [FRESHNESS_TARGET])
  const hasWorker = async () => (await loadFreshness(pool)).map(row => row.hasWorker)
  expect(await hasWorker()).toEqual([false])
  await recordWorker(pool, 'old', null, [])
  expect(await hasWorker()).toEqual([true])
  await pool.query(`update ferry.workers set seen_at = clock_timestamp() - interval '91 seconds'`)
  expect(await hasWorker()).toEqual([false])
  await recordWorker(pool, 'of another', null, ['another'])
  expect(await hasWorker()).toEqual([false])
})

test('what is late is asked of some accounts, some inventories, and only once there was time to read it', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const accounts = ['late', 'fresh', 'never', 'new']
  const targetOf = (account: string) => ({ ...FRESHNESS_TARGET, account })
  await saveFreshnessTargets(pool, [...accounts.map(targetOf), { ...MCP_TARGET, account: 'late' }])
  await pool.query(
    `update ferry.freshness_targets set target_since = now() - interval '1 day' where account = 'never'`,
  )
  await addRun(pool, { account: 'late' })
  await ageRuns(pool, '1 hour')
  await addRun(pool, { account: 'fresh' })
  const late = async (...of: string[]) =>
    (await listLate(pool, of)).map(({ account, inventory }) => `${account} ${inventory}`)
  expect(await late(...accounts)).toEqual(['late alert-rules', 'never alert-rules'])
  expect(await late('fresh', 'never')).toEqual(['never alert-rules'])
  const shownLate = async (of: Parameters<typeof loadLate>[1], account: string | null) =>
    (await loadLate(pool, of, account)).map(row => `${row.account} ${row.inventory}`)
  const both = ['alert-rules', 'mcp-servers'] as const
  expect(await shownLate(both, null)).toEqual([
    'late alert-rules',
    'late mcp-servers',
    'never alert-rules',
    'new alert-rules',
  ])
  expect(await shownLate(['mcp-servers'], null)).toEqual(['late mcp-servers'])
  expect(await shownLate(both, 'never')).toEqual(['never alert-rules'])
  expect(await areAllFresh(pool, ['fresh'])).toBe(true)
  expect(await areAllFresh(pool, ['fresh', 'late'])).toBe(false)
  expect(await areAllFresh(pool, ['fresh', 'unknown'])).toBe(false)
})

test('the night of an account is that of its later target, and is due when its snapshot is', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const [cron, timezone] = ['30 3 * * *', 'Europe/Berlin']
  await saveFreshnessTargets(pool, [
    { ...FRESHNESS_TARGET, account: 'b', nightMs: 3 * HOUR_MS, nightlyCron: '0 1 * * *' },
    { ...MCP_TARGET, account: 'b', nightMs: 2 * HOUR_MS, nightlyCron: cron, timezone },
    { ...MCP_TARGET, account: 'a', nightMs: HOUR_MS / 2 },
  ])
  expect(await listNightTargets(pool)).toEqual([
    { account: 'a', nightMs: HOUR_MS / 2 },
    { account: 'b', nightMs: 3 * HOUR_MS },
  ])
  await pool.query(`update ferry.freshness_targets set night_since = '-infinity' where account = 'a'`)
  await pool.query(`update ferry.freshness_targets set night_since = '2026-01-02Z' where account = 'b'`)
  const since = new Date('2026-01-02T00:00:00Z')
  expect(await listNightTimes(pool, ['b', 'a', 'c'])).toEqual([
    { account: 'a', cron: null, timezone: 'UTC', since: null },
    { account: 'b', cron, timezone, since },
  ])
  expect(await listNightTimes(pool, ['b'])).toEqual([{ account: 'b', cron, timezone, since }])
  expect((await listTargetedAccounts(pool)).toSorted()).toEqual(['a', 'b'])
})
