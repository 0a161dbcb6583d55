import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { failLostRuns } from '#src/inventory/runs/lost-runs.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { expireLeases, leasesOf, takeOverLeases } from '#test/support/leases.ts'
import { waitFor } from '#test/support/wait-for.ts'

const LEASE_MS = 1_500
const NEVER = new AbortController().signal
const REQUEST = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const

async function isApplying(harness: FerryHarness): Promise<boolean> {
  const waiting = await harness.query(
    `select from pg_stat_activity where datname = current_database() and query like 'copy %' and wait_event_type = 'Lock'`,
  )
  return waiting.length === 1
}

test('an apply that outlives its lease several times succeeds, whoever looks meanwhile', async () => {
  await using harness = await openFerryHarness({ rules: 60 })
  const other = await harness.openFerry()
  const blocker = await other.pool.connect()
  await blocker.query('begin; lock table ferry.alert_rule_versions in share mode')
  const syncing = syncInventory({ ...harness.ferry, leaseMs: LEASE_MS }, REQUEST, NEVER)
  await waitFor(() => isApplying(harness), { what: 'the run to be applying' })

  for (let life = 0; life < 4; life++) {
    await delay(LEASE_MS)
    const second = await syncInventory({ ...other, leaseMs: LEASE_MS }, REQUEST, NEVER)
    expect(second.status).toBe('skipped')
    expect(await failLostRuns(other.pool)).toEqual([])
    expect(harness.ferry.pool.totalCount).toBeLessThan(5)
  }
  expect(await leasesOf(harness.ferry.pool)).toMatchObject([{ isOver: true }])

  await blocker.query('commit')
  blocker.release()
  expect(await syncing).toMatchObject({ status: 'succeeded', added: 60 })
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', unchanged: 60 })
})

test.each([
  ['expired', expireLeases],
  ['has another holder', takeOverLeases],
] as const)('what a run has read is not applied once its lease %s', async (_, lose) => {
  await using harness = await openFerryHarness({ rules: 5 })
  harness.sandbox.state.onCall(async () => {
    await lose(harness.ferry.pool)
    return undefined
  })
  const result = await syncInventory({ ...harness.ferry, leaseMs: 60_000 }, REQUEST, NEVER)
  expect(result).toMatchObject({ status: 'failed', errorCode: 'LeaseLost' })
  expect(await harness.query('select from ferry.alert_rule_versions')).toEqual([])
})
