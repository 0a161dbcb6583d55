import type { Pool } from 'pg'
import { drizzleOf } from '#src/db/drizzle.ts'
import { snapshots, syncRuns } from './schema.ts'

/** The names of the accounts that were ever synced, whether they are still configured or not, in order. */
export async function listSyncedAccounts(pool: Pool): Promise<string[]> {
  const db = drizzleOf(pool)
  const rows = await db
    .select({ account: syncRuns.account })
    .from(syncRuns)
    .union(db.select({ account: snapshots.account }).from(snapshots))
  return rows.map(row => row.account).sort()
}
