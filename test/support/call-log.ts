import type { Pool } from 'pg'

/** Every call so far was made so much earlier (an interval of Postgres, such as `90 days`). */
export async function ageCalls(pool: Pool, by: string): Promise<void> {
  await pool.query(
    `update ferry.platform_calls set started = started - $1::interval,
       counted_by = counted_by - $1::interval, finished = finished - $1::interval`,
    [by],
  )
}
