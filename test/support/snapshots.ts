import type { Pool } from 'pg'
import { onlyRow } from '#src/db/rows.ts'
import { findPair, listDifferences, type SnapshotDifference } from '#src/inventory/history/snapshot-diff.ts'

/** All that differs between two snapshots. */
export async function diffSnapshots(pool: Pool, a: bigint, b: bigint): Promise<SnapshotDifference[]> {
  return await Array.fromAsync(listDifferences(pool, await findPair(pool, a, b), null))
}

/** Every snapshot so far was taken so much earlier (an interval of Postgres). */
export async function ageSnapshots(pool: Pool, by: string): Promise<void> {
  await pool.query('update ferry.snapshots set taken_at = taken_at - $1::interval', [by])
}

/** A snapshot at a chosen instant, of runs that need not exist. Returns its id. */
export async function addSnapshot(
  pool: Pool,
  account: string,
  takenAt: string,
  {
    slot = null,
    status = 'succeeded',
    runs = [1, 2],
  }: { slot?: string | null; status?: string; runs?: [number, number] } = {},
): Promise<bigint> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
     values ($1, $2, $3, $4, $5, $6) returning id::text`,
    [account, slot, takenAt, status, ...runs],
  )
  return BigInt(onlyRow(rows, 'the insert').id)
}
