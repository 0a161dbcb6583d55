import type { Pool, PoolClient } from 'pg'
import { drizzleOf, sql } from '#src/db/drizzle.ts'
import { snapshots } from './schema.ts'

/** Returns when the latest snapshot of each account was taken. */
export function listLastSnapshots(client: Pool | PoolClient) {
  const { account, taken_at } = snapshots
  const takenAt = sql<Date>`max(${taken_at})`.mapWith(taken_at)
  return drizzleOf(client).select({ account, takenAt }).from(snapshots).groupBy(account).orderBy(account)
}
