import type { Pool } from 'pg'
import { findPair, listDifferences, type SnapshotDifference } from '#src/inventory/snapshot-diff.ts'

/** All that differs between two snapshots. */
export async function diffSnapshots(pool: Pool, a: bigint, b: bigint): Promise<SnapshotDifference[]> {
  return await Array.fromAsync(listDifferences(pool, await findPair(pool, a, b), null))
}
