import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import type { Resource } from '#src/model/resource.ts'
import { loadAround } from '#src/reports/around.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun, ageRuns, NEW_RUN } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

const HOUR_MS = 3_600_000

/** A complete run of these folders, by a schedule if it is not said to be by hand. Call it in the order of time. */
async function putRun(
  pool: Pool,
  hoursAgo: number,
  {
    folders,
    trigger = 'schedule',
    resource = 'alert-rules',
  }: {
    readonly folders: readonly string[]
    readonly trigger?: 'schedule' | 'manual' | undefined
    readonly resource?: Resource
  },
): Promise<void> {
  const slot = trigger === 'schedule' ? new Date() : null
  const id = await addRun(pool, { trigger, slot, resource, scope: { ...NEW_RUN.scope, folders } })
  await ageRuns(pool, `${hoursAgo} hours`, id)
}

test('what was read before more folders were set stays read, and what was not read then stays an outage', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const target = (...folders: string[]) =>
    saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, targetMs: 1.5 * HOUR_MS, folders }])
  const run = (hoursAgo: number, folders: string[], trigger?: 'manual') =>
    putRun(pool, hoursAgo, { folders, trigger })
  const found = async () => {
    const { rows: spots } = await pool.query(
      `select round(extract(epoch from now() - "from") / 3600)::int as "from",
         round(extract(epoch from now() - "to") / 3600)::int as "to" from ferry.blind_spots() order by 1 desc`,
    )
    const { rows: days } = await pool.query<{ hours: number; fresh: number }>(
      `select round(sum(minutes) / 60.0)::int as hours, round(sum(fresh_minutes) / 60.0, 1)::float8 as fresh from ferry.freshness_daily()`,
    )
    const blind = async (hoursAgo: number) => {
      const moment = { at: new Date(Date.now() - hoursAgo * HOUR_MS), spanMs: HOUR_MS / 4 }
      return (await loadAround(pool, moment, 10)).rows.filter(({ kind }) => kind === 'blind').length
    }
    return { spots, days, blind: [await blind(7.5), await blind(6.5), await blind(3)] }
  }
  await target('5')
  for (const hoursAgo of [8, 7, 6, 5]) await run(hoursAgo, ['5'])
  // Asked for by hand, and not of what was set.
  await run(4, ['7'], 'manual')
  await run(2, ['5'])
  // By hand, and of what was set.
  await run(1, ['5'], 'manual')
  const before = await found()
  expect(before).toEqual({
    spots: [{ from: 5, to: 2 }],
    days: [{ hours: 8, fresh: 6.5 }],
    blind: [0, 0, 1],
  })
  await target('5', '6')
  expect(await found()).toEqual(before)
  await run(0, ['5', '6'])
  expect(await found()).toEqual(before)
  // A schedule elsewhere that lists the former folders says nothing of today's.
  await pool.query(`update ferry.freshness_targets set target_since = now() - interval '3 hours'`)
  expect(await found()).toMatchObject({ spots: [{ from: 5, to: 0 }] })
})

test('what a schedule has read of the rules in other folders is no reading of the servers', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await putRun(pool, 8, { folders: ['0'], resource: 'mcp-servers' })
  for (const hoursAgo of [7, 6, 5]) await putRun(pool, hoursAgo, { folders: ['5'] })
  await putRun(pool, 4, { folders: ['0'], resource: 'mcp-servers' })
  await saveFreshnessTargets(pool, [
    { ...FRESHNESS_TARGET, resource: 'mcp-servers', targetMs: 1.5 * HOUR_MS, folders: ['0'] },
  ])
  const moment = { at: new Date(Date.now() - 5.5 * HOUR_MS), spanMs: HOUR_MS / 4 }
  const { rows } = await loadAround(pool, moment, 10)
  expect(rows.filter(({ kind }) => kind === 'blind').map(({ inventory }) => inventory)).toContain(
    'mcp-servers',
  )
})
