import type { Pool } from 'pg'
import { z } from 'zod'
import { drizzleOf } from '#src/db/drizzle.ts'
import { findValue } from '#src/db/rows.ts'
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

/** Whether more than one account was ever synced, or is configured. By indexes, however many runs there are. */
export function hasSeveralAccounts(pool: Pool): Promise<boolean> {
  return findValue(pool, z.boolean(), 'select count(distinct account) > 1 from ferry.inventories')
}

/** Whether an account was ever synced, or a worker has a freshness target for it. By indexes, however many runs there are. */
export function isSyncedAccount(pool: Pool, account: string): Promise<boolean> {
  return findValue(
    pool,
    z.boolean(),
    `select exists (select from ferry.inventories where account = $1)
       or exists (select from ferry.snapshots where account = $1)`,
    [account],
  )
}
