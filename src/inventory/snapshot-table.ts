import type { Pool } from 'pg'
import { desc, drizzleOf, inArray, max, sql } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import { RESOURCES } from '#src/model/resource.ts'
import { leaseNameOf } from './lease-name.ts'
import { snapshots, syncRuns } from './schema.ts'
import type { SnapshotStatus } from './states.ts'

/** A named instant. The versions tell what the inventories were then; nothing is copied. */
export type Snapshot = typeof snapshots.$inferSelect

/**
 * Names this instant. Returns null if the slot has a snapshot already, which stays as it is.
 *
 * A run that is being published has chosen an earlier instant: this waits for its commit. So what a snapshot shows never
 * changes.
 */
export async function saveSnapshot(
  pool: Pool,
  {
    alertRulesRun,
    mcpServersRun,
    ...snapshot
  }: {
    account: string
    slot: Date | null
    status: SnapshotStatus
    alertRulesRun: bigint
    mcpServersRun: bigint
  },
): Promise<{ id: bigint; takenAt: Date } | null> {
  return inTransaction(pool, async client => {
    const names = RESOURCES.map(resource => leaseNameOf({ account: snapshot.account, resource }))
    await client.query('select from ferry.leases where name = any ($1) order by name for share', [names])
    // The instants of its runs may be ahead of a clock that was set back.
    const appliedAt = drizzleOf(client)
      .select({ latest: max(syncRuns.applied_at) })
      .from(syncRuns)
      .where(inArray(syncRuns.id, [alertRulesRun, mcpServersRun]))
    const [saved] = await drizzleOf(client)
      .insert(snapshots)
      .values({
        ...snapshot,
        taken_at: sql`greatest(clock_timestamp(), (${appliedAt}))`,
        alert_rules_run: alertRulesRun,
        mcp_servers_run: mcpServersRun,
      })
      .onConflictDoNothing({ target: [snapshots.account, snapshots.slot] })
      .returning({ id: snapshots.id, takenAt: snapshots.taken_at })
    return saved ?? null
  })
}

/** The newest snapshots first. */
export function listSnapshots(pool: Pool, limit: number): Promise<Snapshot[]> {
  return drizzleOf(pool).select().from(snapshots).orderBy(desc(snapshots.id)).limit(limit)
}
