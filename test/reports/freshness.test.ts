import type { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { recordWorker } from '#src/db/workers.ts'
import type { InventoryAccount } from '#src/inventory/context.ts'
import { startRun } from '#src/inventory/runs/ledger.ts'
import type { Retention } from '#src/model/settings.ts'
import { explainLateness, loadFreshness } from '#src/reports/freshness.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { freshnessTargetsOf } from '#src/worker/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun, ageRuns, NEW_RUN } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

async function only(pool: Pool) {
  const [row, ...others] = await loadFreshness(pool)
  expect(others).toEqual([])
  return row
}

async function stateOf(pool: Pool): Promise<string | undefined> {
  const row = await only(pool)
  return row && [row.state, row.whyLate].filter(word => word !== null).join(': ')
}

const failed = { status: 'failed', appliedAt: null, errorCode: 'Unauthorized', requestId: 'r-1' } as const

describe('ferry.freshness', () => {
  test('has a row for each account and inventory that has runs or a freshness target', async () => {
    await using store = await openTestStore()
    expect(await loadFreshness(store.pool)).toEqual([])
    for (const account of ['c', 'a', 'a', 'b']) await addRun(store.pool, { account })
    await addRun(store.pool, { account: 'a', resource: 'mcp-servers' })
    await saveFreshnessTargets(store.pool, [{ ...FRESHNESS_TARGET, account: 'd' }])
    const rows = await loadFreshness(store.pool)
    expect(rows.map(row => [row.account, row.inventory, row.state])).toEqual([
      ['a', 'alert-rules', 'no target'],
      ['a', 'mcp-servers', 'no target'],
      ['b', 'alert-rules', 'no target'],
      ['c', 'alert-rules', 'no target'],
      ['d', 'alert-rules', 'never'],
    ])
    expect((await loadFreshness(store.pool, 'b')).map(row => row.account)).toEqual(['b'])
  })

  test('is fresh up to its target and late after it; the age is that of the beginning of the reading', async () => {
    await using store = await openTestStore()
    const { pool } = store
    await saveFreshnessTargets(pool, [FRESHNESS_TARGET])
    const run = await addRun(pool)
    await ageRuns(pool, '179 seconds')
    await pool.query('update ferry.sync_runs set finished_at = clock_timestamp()')
    expect(await only(pool)).toMatchObject({
      state: 'fresh',
      whyLate: null,
      lastCompleteRun: run,
      targetMs: 180_000,
    })
    const { ageMs } = (await only(pool)) ?? {}
    expect(ageMs).toBeGreaterThanOrEqual(179_000)
    expect(ageMs).toBeLessThan(180_000)
    await ageRuns(pool, '2 seconds')
    expect(await stateOf(pool)).toBe('late: no run')
  })

  test('counts listings that were applied with nothing partial: succeeded and held, with or without changes', async () => {
    await using store = await openTestStore()
    const { pool } = store
    await saveFreshnessTargets(pool, [FRESHNESS_TARGET])
    expect(await stateOf(pool)).toBe('never: no run')
    await addRun(pool, { end: failed })
    expect(await stateOf(pool)).toBe('never: failed')
    await addRun(pool, { end: { status: 'partial' } })
    expect(await stateOf(pool)).toBe('never: partial')
    await addRun(pool, { end: { status: 'held', removed: 1 } })
    expect(await stateOf(pool)).toBe('fresh')
    await ageRuns(pool, '1 hour')
    await addRun(pool, { end: { seen: 3, unchanged: 3 } })
    expect(await stateOf(pool)).toBe('fresh')
  })

  test('counts only listings that include the folders of the target', async () => {
    await using store = await openTestStore()
    const { pool } = store
    const scope = (folders: string[]) => ({ ...NEW_RUN.scope, folders })
    await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, folders: ['1', '2'] }])
    await addRun(pool, { scope: scope(['1']) })
    expect(await stateOf(pool)).toBe('never: no run')
    const both = await addRun(pool, { scope: scope(['1', '2']) })
    expect(await only(pool)).toMatchObject({ state: 'fresh', lastCompleteRun: both })
    const all = await addRun(pool, { scope: scope(['0']) })
    expect(await only(pool)).toMatchObject({ lastCompleteRun: all })
    const key = await addRun(pool, { scope: { ...scope(['1', '2']), keyHash: 'rotated' } })
    expect(await only(pool)).toMatchObject({ lastCompleteRun: key })
  })

  test('says why an inventory is late, and which run failed', async () => {
    await using store = await openTestStore()
    const { pool } = store
    await saveFreshnessTargets(pool, [FRESHNESS_TARGET, { ...FRESHNESS_TARGET, account: 'other' }])
    await addRun(pool, { account: 'other' })
    await addRun(pool)
    await ageRuns(pool, '1 hour')
    const late = async () => (await loadFreshness(pool, 'default'))[0]
    await startRun(pool, NEW_RUN, { token: '00000000-0000-4000-8000-000000000001' })
    expect(await late()).toMatchObject({ whyLate: 'running' })
    const run = await addRun(pool, { end: failed })
    await addRun(pool, { end: { status: 'failed', appliedAt: null }, account: 'other' })
    expect(await late()).toMatchObject({
      whyLate: 'failed',
      lastFailedRun: run,
      errorCode: 'Unauthorized',
      requestId: 'r-1',
    })
    const pause = 'insert into ferry.schedule_pauses (schedule, account) values ($1, $2)'
    await pool.query(pause, ['snapshot-inventory', 'default'])
    await pool.query(pause, ['poll-alert-rules', 'other'])
    expect(await late()).toMatchObject({ whyLate: 'failed' })
    await pool.query(pause, ['poll-alert-rules', 'default'])
    expect(await late()).toMatchObject({ whyLate: 'paused' })
    expect(explainLateness((await late())!)).toContain(
      '`ferry schedules resume poll-alert-rules --account default`',
    )
    await addRun(pool)
    expect(await late()).toMatchObject({
      state: 'fresh',
      whyLate: null,
      lastFailedRun: null,
      errorCode: null,
    })
  })

  test('advises to remove freshness targets only if no live worker has the account, and nothing of it was tried for a day', async () => {
    await using store = await openTestStore()
    const { pool } = store
    const advice = async () => explainLateness((await loadFreshness(pool, 'default'))[0]!)
    const silent = () =>
      pool.query(`update ferry.workers set seen_at = clock_timestamp() - interval '91 seconds'`)
    const DELETE = `delete from ferry.freshness_targets where account = 'default'`
    await saveFreshnessTargets(pool, [
      FRESHNESS_TARGET,
      { ...FRESHNESS_TARGET, resource: 'mcp-servers', targetMs: 3_600_000 },
    ])
    await addRun(pool, { resource: 'mcp-servers' })
    expect(await advice()).toMatch(
      /^no worker has this account: start .* with account default in its settings\.$/,
    )
    await pool.query(`update ferry.freshness_targets set target_since = target_since - interval '2 days'`)
    await ageRuns(pool, '23 hours')
    expect(await advice()).not.toContain('delete')
    await ageRuns(pool, '2 hours')
    expect(await advice()).toContain(DELETE)
    await pool.query(`update ferry.freshness_targets set target_since = target_since + interval '30 hours'`)
    expect(await advice()).not.toContain('delete')
    await pool.query(`update ferry.freshness_targets set target_since = target_since - interval '30 hours'`)
    await recordWorker(pool, 'other', null, ['another'])
    expect(await advice()).toContain(DELETE)
    await recordWorker(pool, 'ours', null, ['another', 'default'])
    expect(await advice()).not.toContain('delete')
    await silent()
    await pool.query('delete from ferry.freshness_targets')
    await ageRuns(pool, '1 hour')
    expect(await advice()).toBe(null)
  })

  test('advises so also if the last thing that was tried failed, and says then that no worker has the account', async () => {
    await using store = await openTestStore()
    const { pool } = store
    await saveFreshnessTargets(pool, [FRESHNESS_TARGET])
    await addRun(pool, { end: failed })
    await pool.query(`update ferry.freshness_targets set target_since = target_since - interval '2 days'`)
    const words = async () => explainLateness((await only(pool))!)
    expect(await words()).toMatch(/^key refused \(401\)/)
    await ageRuns(pool, '25 hours')
    expect(await words()).toMatch(/^no worker has this account: .* delete from ferry\.freshness_targets/)
  })

  test('an account that was taken away is not late for ever because it was never read', async () => {
    await using store = await openTestStore()
    await addRun(store.pool, { end: failed })
    expect(await stateOf(store.pool)).toBe('never: failed')
    await ageRuns(store.pool, '25 hours')
    expect(await only(store.pool)).toMatchObject({ state: 'no target', whyLate: null })
  })

  test('is late after the clock was set back, until the next complete run', async () => {
    await using store = await openTestStore()
    const { pool } = store
    await saveFreshnessTargets(pool, [FRESHNESS_TARGET])
    await addRun(pool)
    await ageRuns(pool, '-1 hour')
    expect(await stateOf(pool)).toBe('late: clock set back')
    await addRun(pool, { end: failed })
    expect(await stateOf(pool)).toBe('late: clock set back')
    await addRun(pool)
    expect(await stateOf(pool)).toBe('fresh')
  })
})

describe('freshness targets', () => {
  const account = (name: string, folders = [0n]) =>
    ({ name, folders, keyHash: 'k', includeAccount: false, pageLimit: 100 }) as unknown as InventoryAccount
  const settings = {
    pollEveryMs: 60_000,
    mcpPollEveryMs: null as number | null,
    nightlyCron: '30 3 * * *',
    timezone: 'UTC',
    retention: { runsMs: 9 } as Retention,
  }
  const now = new Date('2026-11-20T12:00:00Z')
  const targetsOf = (more: Partial<typeof settings>) =>
    freshnessTargetsOf({ ...settings, ...more }, [account('a')], now).map(({ targetMs }) => targetMs / 60_000)

  test('are three poll intervals, and the longest interval of the nightly schedule and one hour', () => {
    expect(targetsOf({})).toEqual([3, 25 * 60])
    expect(targetsOf({ pollEveryMs: 300_000 })).toEqual([15, 25 * 60])
    expect(targetsOf({ nightlyCron: '0 3 * * 1-5' })).toEqual([3, 73 * 60])
    // The night on which the clock is set back has an hour more.
    expect(targetsOf({ timezone: 'Europe/Berlin' })).toEqual([3, 26 * 60])
    expect(targetsOf({ nightlyCron: '* * * * *' })).toEqual([3, 61])
  })

  test('of MCP servers that are polled are three poll intervals, whatever the night is', () => {
    const [, polled] = freshnessTargetsOf({ ...settings, mcpPollEveryMs: 900_000 }, [account('a')], now)
    expect(polled).toMatchObject({ schedule: 'poll-mcp-servers', targetMs: 2_700_000, nightMs: 90_000_000 })
    const [, other] = freshnessTargetsOf(
      { ...settings, mcpPollEveryMs: 60_000, nightlyCron: '0 3 * * 1-5' },
      [account('a')],
      now,
    )
    expect(other).toMatchObject({ targetMs: 180_000, nightMs: 73 * 3_600_000, weekdays: [1, 2, 3, 4, 5] })
  })

  test('name the schedule that keeps them, and the folders that must be read', () => {
    expect(freshnessTargetsOf(settings, [account('a', [2n, 1n, 2n])], now)).toMatchObject([
      {
        account: 'a',
        resource: 'alert-rules',
        schedule: 'poll-alert-rules',
        folders: ['1', '2'],
        runsKeptMs: 9,
      },
      { account: 'a', resource: 'mcp-servers', schedule: 'snapshot-inventory', folders: null },
    ])
    expect(freshnessTargetsOf(settings, [account('a', [2n, 0n])], now)).toMatchObject([
      { folders: ['0'] },
      {},
    ])
  })

  test('replace what an earlier worker wrote, and leave accounts alone that this worker does not know', async () => {
    await using store = await openTestStore()
    await saveFreshnessTargets(store.pool, [FRESHNESS_TARGET, { ...FRESHNESS_TARGET, account: 'other' }])
    await saveFreshnessTargets(store.pool, [{ ...FRESHNESS_TARGET, targetMs: 90_000 }])
    await saveFreshnessTargets(store.pool, [])
    const rows = await loadFreshness(store.pool)
    expect(rows.map(row => [row.account, row.targetMs])).toEqual([
      ['default', 90_000],
      ['other', 180_000],
    ])
  })
})
