import type { Pool } from 'pg'

/** Every call so far, or every one of an import, was made so much earlier (an interval of Postgres, such as `90 days`). */
export async function ageCalls(pool: Pool, by: string, importId: bigint | null = null): Promise<void> {
  await pool.query(
    `update ferry.platform_calls set started = started - $1::interval,
       counted_by = counted_by - $1::interval, finished = finished - $1::interval
     where $2::bigint is null or batch_id in (select id from ferry.import_batches where import_id = $2)`,
    [by, importId],
  )
}
