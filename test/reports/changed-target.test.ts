import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

/* Ferry reads its alert rules every two hours, and the freshness target is changed. */

const HOUR = 3_600_000
const READ_HOURS_AGO = [10, 8, 6, 4, 2, 0]

async function setup(beforeHours: number, hours: number, readHoursAgo = READ_HOURS_AGO) {
  const store = await openTestStore()
  for (const ago of readHoursAgo) {
    await store.pool.query(
      `update ferry.sync_runs set started_at = now() - $2::interval, applied_at = now() - $2::interval,
         finished_at = now() - $2::interval where id = $1`,
      [await addRun(store.pool), `${ago} hours`],
    )
  }
  for (const targetHours of [beforeHours, beforeHours, hours, hours]) {
    await saveFreshnessTargets(store.pool, [{ ...FRESHNESS_TARGET, targetMs: targetHours * HOUR }])
  }
  return store
}

/** When the data was late, in hours before now: from and to. */
async function late(pool: Pool) {
  const { rows } = await pool.query<{ from: number; to: number }>(
    `select round(extract(epoch from now() - late_from) / 3600)::int as from,
       round(extract(epoch from now() - coalesce(fresh_again_at, now())) / 3600)::int as to
     from ferry.blind_spots() order by late_from`,
  )
  return rows.map(({ from, to }) => [from, to])
}

/** Between which readings a change may have been long before it was seen, by the hour in which the second was. */
async function blind(pool: Pool) {
  const { rows } = await pool.query<{ ago: number }>(
    `select round(extract(epoch from now() - applied_at) / 3600)::int as ago
     from ferry_internal.readings_between(now() - interval '9 hours', now())
     where is_blind and since is not null and applied_at is not null order by applied_at`,
  )
  return rows.map(({ ago }) => ago)
}

async function lateMinutes(pool: Pool) {
  const { rows } = await pool.query<{ late: number }>(
    'select sum(minutes - fresh_minutes)::int as late from ferry.freshness_daily()',
  )
  return rows[0]?.late
}

test('what was within its freshness target stays so when that becomes shorter', async () => {
  await using store = await setup(3, 1)
  expect(await late(store.pool)).toEqual([])
  expect(await blind(store.pool)).toEqual([])
  expect(await lateMinutes(store.pool)).toBe(0)
})

test('what was late stays so when the freshness target becomes longer', async () => {
  await using store = await setup(1, 3)
  expect(await late(store.pool)).toEqual([9, 7, 5, 3, 1].map(ago => [ago, ago - 1]))
  expect(await blind(store.pool)).toEqual([8, 6, 4, 2, 0])
})

test('from its change on a shorter freshness target holds, for what was read before it too', async () => {
  await using store = await setup(3, 1)
  await store.pool.query(
    `update ferry.freshness_targets set target_changed_at = now() - interval '4.5 hours'`,
  )
  const [first, ...others] = await late(store.pool)
  // Read 6 hours ago, it was late at the moment of the change.
  expect(first?.[1]).toBe(4)
  expect(others).toEqual([3, 1].map(ago => [ago, ago - 1]))
  expect(await blind(store.pool)).toEqual([4, 2, 0])
})

test.each([
  [20, 'until then', [[9, 8]]],
  [
    9,
    'until then, and again once the longer one has passed',
    [
      [9, 8],
      [1, 0],
    ],
  ],
  [2, 'on, as by the longer one', [[9, 0]]],
] as const)(
  'what was late when its freshness target, one hour, became %i hours is late %s',
  async (longer, _, spans) => {
    await using store = await setup(1, longer, [10])
    await store.pool.query(
      `update ferry.freshness_targets set target_changed_at = now() - interval '8 hours'`,
    )
    expect(await late(store.pool)).toEqual(spans)
    const { rows } = await store.pool.query(`select state = 'late' as "isLate" from ferry.freshness`)
    expect(rows).toEqual([{ isLate: spans.at(-1)?.[1] === 0 }])
    expect(await lateMinutes(store.pool)).toBe(spans.reduce((sum, [from, to]) => sum + 60 * (from - to), 0))
  },
)

test('a freshness target that is tried for less than a day is not that of the time before', async () => {
  await using store = await setup(3, 1)
  await saveFreshnessTargets(store.pool, [{ ...FRESHNESS_TARGET, targetMs: 3 * HOUR }])
  expect(await late(store.pool)).toEqual([])
  expect(await blind(store.pool)).toEqual([])
  await store.pool.query(`update ferry.freshness_targets set target_changed_at = now() - interval '25 hours'`)
  await saveFreshnessTargets(store.pool, [{ ...FRESHNESS_TARGET, targetMs: HOUR }])
  const { rows } = await store.pool.query(
    `select target_before = '3 hours' and target_changed_at > now() - interval '1 hour' as "isAnother" from ferry.freshness_targets`,
  )
  expect(rows).toEqual([{ isAnother: true }])
})
