import type { Pool } from 'pg'
import { desc, drizzleOf, inArray, max, sql } from '#src/db/drizzle.ts'
import { snapshots, syncRuns } from './schema.ts'
import type { SnapshotStatus } from './states.ts'

/** A named instant. The versions tell what the inventories were then; nothing is copied. */
export type Snapshot = typeof snapshots.$inferSelect

/** Names this instant. Returns null if the slot has a snapshot already, which stays as it is. */
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
  // The instants of its runs may be ahead of a clock that was set back.
  const appliedAt = drizzleOf(pool)
    .select({ latest: max(syncRuns.applied_at) })
    .from(syncRuns)
    .where(inArray(syncRuns.id, [alertRulesRun, mcpServersRun]))
  const [saved] = await drizzleOf(pool)
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
}

/** The newest snapshots first. */
export function listSnapshots(pool: Pool, limit: number): Promise<Snapshot[]> {
  return drizzleOf(pool).select().from(snapshots).orderBy(desc(snapshots.id)).limit(limit)
}
