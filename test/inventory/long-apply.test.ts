import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { syncInventory } from '#src/inventory/sync.ts'
import { failWorkerLostRuns } from '#src/store/runs.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openWorld, type World } from '#test/support/world.ts'

const LEASE_MS = 1_500
const NEVER = new AbortController().signal
const REQUEST = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const

async function isApplying(world: World): Promise<boolean> {
  const waiting = await world.query(
    `select from pg_stat_activity where datname = current_database() and query like 'copy %' and wait_event_type = 'Lock'`,
  )
  return waiting.length === 1
}

test('an apply that outlives its lease several times succeeds, whoever looks meanwhile', {
  timeout: 60_000,
}, async () => {
  await using world = await openWorld({ rules: 300 })
  const other = await world.openFerry()
  const blocker = await other.pool.connect()
  await blocker.query('begin; lock table ferry.alert_rule_versions in share mode')
  const syncing = syncInventory({ ...world.ferry, leaseMs: LEASE_MS }, REQUEST, NEVER)
  await waitFor(() => isApplying(world), { what: 'the run to be applying', timeoutMs: 20_000 })

  for (let life = 0; life < 4; life++) {
    await delay(LEASE_MS)
    const second = await syncInventory({ ...other, leaseMs: LEASE_MS }, REQUEST, NEVER)
    expect(second.status).toBe('skipped')
    expect(await failWorkerLostRuns(other.pool)).toEqual([])
    expect(world.ferry.pool.totalCount).toBeLessThan(5)
  }
  const [lease] = await world.query('select expires_at < clock_timestamp() as is_over from ferry.leases')
  expect(lease).toEqual({ is_over: true })

  await blocker.query('commit')
  blocker.release()
  expect(await syncing).toMatchObject({ status: 'succeeded', added: 300 })
  expect(await world.sync()).toMatchObject({ status: 'succeeded', unchanged: 300 })
})

test.each([
  ['ran out', "expires_at = clock_timestamp() - interval '1 s'"],
  ['has another holder', 'token = gen_random_uuid()'],
])('what a run has read is not applied once its lease %s', async (_, change) => {
  await using world = await openWorld({ rules: 5 })
  world.sandbox.state.onCall(async () => {
    await world.query(`update ferry.leases set ${change}`)
    return undefined
  })
  const result = await syncInventory({ ...world.ferry, leaseMs: 60_000 }, REQUEST, NEVER)
  expect(result).toMatchObject({ status: 'failed', errorCode: 'LeaseLost' })
  expect(await world.query('select from ferry.alert_rule_versions')).toEqual([])
})
