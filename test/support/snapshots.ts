import type { Pool } from 'pg'
import { findPair, listDifferences, type SnapshotDifference } from '#src/inventory/snapshot-diff.ts'

/** All that differs between two snapshots. */
export async function diffSnapshots(pool: Pool, a: bigint, b: bigint): Promise<SnapshotDifference[]> {
  return await Array.fromAsync(listDifferences(pool, await findPair(pool, a, b), null))
}

/** Every snapshot so far was taken so much earlier (an interval of Postgres). */
export async function ageSnapshots(pool: Pool, by: string): Promise<void> {
  await pool.query('update ferry.snapshots set taken_at = taken_at - $1::interval', [by])
}
