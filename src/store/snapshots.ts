import type { Pool } from 'pg'

export type SnapshotStatus = 'succeeded' | 'partial' | 'held'

/** A named instant: what the inventories were then is asked of the versions, nothing is copied. */
export type Snapshot = {
  readonly id: string
  readonly account: string
  readonly slot: Date | null
  readonly taken_at: Date
  readonly status: SnapshotStatus
  readonly alert_rules_run: string
  readonly mcp_servers_run: string
}

/** Names this instant; a slot that has a snapshot keeps the one it has. Returns null then. */
export async function saveSnapshot(
  pool: Pool,
  snapshot: {
    account: string
    slot: Date | null
    status: SnapshotStatus
    alertRulesRun: bigint
    mcpServersRun: bigint
  },
): Promise<{ id: bigint; takenAt: Date } | null> {
  // Later than the instants of its runs, which may be ahead of a clock that was set back.
  const { rows } = await pool.query<{ id: string; taken_at: Date }>(
    `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
     select $1, $2, greatest(clock_timestamp(), max(applied_at)), $3, $4, $5
     from ferry.sync_runs where id in ($4, $5)
     on conflict (account, slot) do nothing returning id, taken_at`,
    [snapshot.account, snapshot.slot, snapshot.status, snapshot.alertRulesRun, snapshot.mcpServersRun],
  )
  const [row] = rows
  return row ? { id: BigInt(row.id), takenAt: row.taken_at } : null
}

/** The newest snapshots first. */
export async function listSnapshots(pool: Pool, limit: number): Promise<Snapshot[]> {
  const { rows } = await pool.query<Snapshot>('select * from ferry.snapshots order by id desc limit $1', [
    limit,
  ])
  return rows
}
