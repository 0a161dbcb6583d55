import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { questionsOf } from '#src/worker/notifications.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { ageRuns } from '#test/support/runs.ts'

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
