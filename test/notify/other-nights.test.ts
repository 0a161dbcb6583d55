import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { questionsOf } from '#src/worker/notifications.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun, ageRuns } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

const HOUR_MS = 3_600_000

const NEVER = new AbortController().signal

test('a night is not missed that is due only since the settings were changed', async () => {
  await using harness = await openFerryHarness({ rules: 1, servers: 0 })
  const { pool } = harness.ferry
  await syncInventory(
    harness.ferry,
    { account: 'default', resource: 'alert-rules', trigger: 'manual' },
    NEVER,
  )
  await ageRuns(pool, '9 days')
  await pool.query(
    `insert into ferry.snapshots (account, taken_at, status, alert_rules_run, mcp_servers_run)
     values ('default', now() - interval '3 days', 'succeeded', 1, 1)`,
  )
  const targets = ([nightlyCron, timezone]: readonly [string | null, string]) =>
    saveFreshnessTargets(pool, [
      { ...FRESHNESS_TARGET, resource: 'mcp-servers', folders: null, nightlyCron, timezone },
    ])
  const ask = questionsOf({ cron: '0 3 * * *', timezone: 'UTC' })
  const missed = async () => {
    const told = await inTransaction(pool, client => ask.listMissedNights(client, ['default']))
    const shown = await harness.query(`select from ferry.nights() where status = 'missed'`)
    return [told.length, shown.length > 0]
  }
  // An earlier version did not say when nights are due: those of before are judged by what the first one says.
  await targets([null, 'UTC'])
  await targets(['0 3 * * *', 'UTC'])
  expect(await missed()).toEqual([1, true])
  for (const others of [
    ['0 4 * * *', 'UTC'],
    ['0 4 * * *', 'Asia/Tokyo'],
  ] as const) {
    await targets(others)
    expect(await missed()).toEqual([0, false])
    await targets(others)
    expect(await missed()).toEqual([0, false])
    await harness.query(`update ferry.freshness_targets set night_since = '-infinity'`)
    expect(await missed()).toEqual([1, true])
  }
})

test('the nights of an account are those of the worker that has it, whichever worker tells of them', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const hoursAgo = (hours: number) => new Date(Math.floor(Date.now() / 60_000) * 60_000 - hours * HOUR_MS)
  const cronOf = (at: Date) => `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`
  const nights = { early: hoursAgo(20), late: hoursAgo(10), missing: hoursAgo(5) }
  for (const [account, night] of Object.entries(nights)) {
    await ageRuns(pool, '3 days', await addRun(pool, { account }))
    await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, account, nightlyCron: cronOf(night) }])
    const takenAt = account === 'missing' ? hoursAgo(29) : night
    await pool.query(
      `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
       values ($1, $2, $2, 'succeeded', 1, 1)`,
      [account, takenAt],
    )
  }
  const ask = questionsOf({ cron: cronOf(nights.late), timezone: 'UTC' })
  const missed = await inTransaction(pool, client => ask.listMissedNights(client, Object.keys(nights)))
  expect(missed).toEqual([{ account: 'missing', night: nights.missing }])
})

test.each([
  ['later', [-2, '03:30'], [-1, '09:00'], null],
  ['earlier', [-2, '14:00'], [-1, '10:00'], [0, '03:30']],
] as const)(
  'no night is missed because the nightly time is moved to %s',
  async (_, before, changed, after) => {
    await using store = await openTestStore()
    const { pool } = store
    const at = ([days, time]: readonly [number, string]) =>
      `(date_trunc('day', now()) + '${days} days ${time}')`
    await saveFreshnessTargets(pool, [
      { ...FRESHNESS_TARGET, resource: 'mcp-servers', folders: null, nightlyCron: '30 3 * * *' },
    ])
    await pool.query(`update ferry.freshness_targets set night_since = ${at(changed)}`)
    for (const slot of after ? [before, after] : [before]) {
      await pool.query(
        `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
       values ('default', ${at(slot)}, ${at(slot)}, 'succeeded', 1, 1)`,
      )
    }
    const { rows } = await pool.query(`select night from ferry.nights() where status = 'missed'`)
    expect(rows).toEqual([])
  },
)
