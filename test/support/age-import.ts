import type { Pool } from 'pg'
import { ageCalls } from './call-log.ts'

/**
 * Lets time pass for an import: all that is remembered of it, its batches and their calls was so much earlier (an interval
 * of Postgres, such as `25 hours`). Claims expire by it, back-offs end, and calls leave the windows of the limit.
 */
export async function ageImport(pool: Pool, id: bigint, by: string): Promise<void> {
  await pool.query(
    `with aged as (
       update ferry.imports set created_at = created_at - $2::interval, staged_at = staged_at - $2::interval,
         confirmed_at = confirmed_at - $2::interval, started_at = started_at - $2::interval,
         finished_at = finished_at - $2::interval, rests_since = rests_since - $2::interval,
         retry_at = retry_at - $2::interval,
         wants_at = wants_at - $2::interval, served_at = served_at - $2::interval
       where id = $1 returning id
     ), decided as (
       update ferry.audit set at = at - $2::interval
       where subject_kind = 'import' and subject_id = (select id::text from aged)
     )
     update ferry.import_batches set claimed_at = claimed_at - $2::interval,
       claim_ends_at = claim_ends_at - $2::interval, sent_at = sent_at - $2::interval
     where import_id = (select id from aged)`,
    [id, by],
  )
  await ageCalls(pool, by, id)
}
