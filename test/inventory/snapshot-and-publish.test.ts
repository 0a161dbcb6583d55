import { pino } from 'pino'
import { expect, test } from 'vitest'
import { acquireLease, fenceWithLease } from '#src/db/leases.ts'
import { inTransaction } from '#src/db/pool.ts'
import { saveSnapshot } from '#src/inventory/history/snapshots.ts'
import { leaseNameOf } from '#src/inventory/runs/lost-runs.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { waitFor } from '#test/support/wait-for.ts'

test.each(['alert-rules', 'mcp-servers'] as const)(
  'a snapshot is taken after a run of %s that is being published',
  async resource => {
    await using harness = await openFerryHarness({ rules: 1, servers: 1 })
    const alertRulesRun = (await harness.sync()).run
    const mcpServersRun = (await harness.sync({ resource: 'mcp-servers' })).run
    const { pool } = harness.ferry
    const name = leaseNameOf({ account: 'default', resource })
    const lease = await acquireLease(pool, name, 'a worker', pino({ level: 'silent' }))
    if ('heldBy' in lease) throw new Error('the lease is taken')
    const runs = { alertRulesRun, mcpServersRun }
    const snapshot = { account: 'default', slot: null, status: 'succeeded' as const, ...runs }

    const [saving, chosen] = await inTransaction(pool, async client => {
      await fenceWithLease(client, lease)
      const started = saveSnapshot(pool, snapshot)
      await waitFor(async () => (await harness.query(WAITING_FOR_LOCK)).length > 0, {
        what: 'the snapshot to wait',
      })
      const { rows } = await client.query<{ at: Date }>('select clock_timestamp() as at')
      return [started, rows[0]?.at] as const
    })
    const saved = await saving
    expect(Number(saved?.takenAt)).toBeGreaterThanOrEqual(Number(chosen))
    await lease.release()
  },
)
