import type { Pool } from 'pg'
import { countOf } from './rows.ts'

/** Support may ask for the `request_id` of a call weeks later. After 90 days nobody has asked yet. */
const KEEP_CALLS_DAYS = 90

/** Deletes old rows of the call log; returns how many. Calls of a batch stay: they belong to the record of that batch. */
export async function pruneCalls(pool: Pool): Promise<number> {
  return countOf(await pool.query(PRUNE_CALLS, [KEEP_CALLS_DAYS]))
}

const PRUNE_CALLS = `
  delete from ferry.platform_calls
  where counted_by < clock_timestamp() - $1 * interval '1 day' and batch_id is null`
