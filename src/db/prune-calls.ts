import type { SQL } from 'drizzle-orm'
import type { Pool } from 'pg'
import { and, drizzleOf, lt, not, sql } from './drizzle.ts'
import { countOf } from './rows.ts'
import { platformCalls } from './schema.ts'

/** Support may ask for the `request_id` of a call weeks later. After 90 days nobody has asked yet. */
const KEEP_CALLS_DAYS = 90

/** Deletes old rows of the call log, but those that `isKept`, a condition in SQL, says belong to another record. Returns how many. */
export async function pruneCalls(pool: Pool, isKept: SQL): Promise<number> {
  const daysAgo = sql`clock_timestamp() - ${KEEP_CALLS_DAYS} * interval '1 day'`
  const old = and(lt(platformCalls.counted_by, daysAgo), not(isKept))
  return countOf(await drizzleOf(pool).delete(platformCalls).where(old))
}
