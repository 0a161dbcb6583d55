import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun, ageRuns, NEW_RUN } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'
import { ask } from './ask.ts'

const HOUR_MS = 3_600_000

async function addRunAgo(pool: Pool, minutes: number): Promise<void> {
  await ageRuns(pool, `${minutes} minutes`, await addRun(pool))
}

const COLUMNS = 'account inventory day minutes fresh_minutes share'

// Where it is another day than in UTC: each evening, and each morning.
test.each(['Pacific/Pago_Pago', 'Pacific/Kiritimati'])(
  'the days are those of the time zone of the target, from the first listing until now: %s',
  async timezone => {
    await using store = await openTestStore()
    await saveFreshnessTargets(store.pool, [{ ...FRESHNESS_TARGET, targetMs: 72 * HOUR_MS, timezone }])
    const now = Temporal.Now.zonedDateTimeISO(timezone)
    // In UTC it was morning.
    const from = now
      .withTimeZone('UTC')
      .startOfDay()
      .subtract({ hours: 24 - 5 })
      .withTimeZone(timezone)
    await addRunAgo(store.pool, from.until(now).total('minutes'))
    const days: unknown[] = []
    for (let day = now.startOfDay(); day.add({ days: 1 }).epochMilliseconds > from.epochMilliseconds; ) {
      const beginsMs = Math.max(day.epochMilliseconds, from.epochMilliseconds)
      const endsMs = Math.min(day.add({ days: 1 }).epochMilliseconds, now.epochMilliseconds)
      const minutes = expect.toSatisfy(found => Math.abs(found - (endsMs - beginsMs) / 60_000) <= 2)
      days.push(['default', 'alert-rules', day.toPlainDate().toString(), minutes, minutes, 1])
      day = day.subtract({ days: 1 })
    }
    expect(await ask(store, 'freshness_daily', COLUMNS)).toEqual(days)
  },
)

test('nothing is said of a time whose runs are not kept any more', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const target = { ...FRESHNESS_TARGET, targetMs: HOUR_MS }
  for (const minutes of [90, 50, 20]) await addRunAgo(pool, minutes)
  const minutesOf = async () => {
    const rows = await ask(store, 'freshness_daily', 'minutes fresh_minutes')
    return [0, 1].map(n => rows.reduce((sum, row) => sum + Number(row[n]), 0))
  }
  const about = (minutes: number) => expect.toSatisfy(found => Math.abs(found - minutes) <= 2)
  await saveFreshnessTargets(pool, [target])
  expect(await minutesOf()).toEqual([about(90), about(90)])
  await saveFreshnessTargets(pool, [{ ...target, runsKeptMs: HOUR_MS }])
  expect(await minutesOf()).toEqual([about(60), about(60)])
  await pool.query(
    `insert into ferry.history (starts_at, runs_start_at) values ('-infinity', now() - interval '40 minutes')`,
  )
  expect(await minutesOf()).toEqual([about(40), about(40)])
})

test('the first day begins with what a schedule read before the folders of today were set, not with what was read by hand', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, targetMs: 24 * HOUR_MS, folders: ['5'] }])
  await pool.query(`update ferry.freshness_targets set target_since = now() - interval '3 hours'`)
  const runs = [
    [8, '7', 'manual'],
    [6, '6', 'schedule'],
    [2, '5', 'manual'],
  ] as const
  for (const [hours, folder, trigger] of runs) {
    const slot = trigger === 'schedule' ? new Date() : null
    const id = await addRun(pool, { trigger, slot, scope: { ...NEW_RUN.scope, folders: [folder] } })
    await ageRuns(pool, `${hours} hours`, id)
  }
  const rows = await ask(store, 'freshness_daily', 'minutes')
  const minutes = rows.flat().reduce<number>((sum, one) => sum + Number(one), 0)
  expect(Math.abs(minutes - 6 * 60)).toBeLessThanOrEqual(2)
})
