import type { Pool, PoolClient } from 'pg'
import { drizzleOf, isNull, sql } from '#src/db/drizzle.ts'
import { removalHolds as holds } from './schema.ts'

/** The removals that wait for a person's decision: the latest run that found the rows gone, and how many they are. */
export function listOpenHolds(client: Pool | PoolClient) {
  const { account, resource, last_run, ids } = holds
  return drizzleOf(client)
    .select({ account, resource, lastRun: last_run, rows: sql<number>`cardinality(${ids})` })
    .from(holds)
    .where(isNull(holds.ended_at))
    .orderBy(account, resource)
}
