import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'

/** The failed calls of an import that have one cause. */
const FailureRow = z.object({
  errorCode: z.string(),
  /** Null: no answer came. */
  httpStatus: z.number().nullable(),
  calls: z.number(),
  batches: z.number(),
  firstAt: z.date(),
  lastAt: z.date(),
  /** Of the last of them that was answered. */
  requestId: z.string().nullable(),
})
export type FailureRow = Readonly<z.infer<typeof FailureRow>>

/** Of more causes, the rarest are left out. */
const MAX_CAUSES = 20

/** Returns why calls of an import failed and how often, the most frequent cause first. Failed calls are few, and have an index. */
export function listFailures(pool: Pool, id: bigint): Promise<FailureRow[]> {
  return findAll(
    pool,
    FailureRow,
    `select c.error_code, c.http_status, count(*)::int as calls, count(distinct c.batch_id)::int as batches,
       min(c.started) as first_at, max(c.started) as last_at,
       (array_agg(c.request_id order by c.started desc) filter (where c.request_id is not null))[1] as request_id
     from ferry.imports i
     join ferry.platform_calls c on c.error_code is not null and c.account = i.account
       and c.started between i.started_at and coalesce(i.finished_at, 'infinity')
     join ferry.import_batches b on b.id = c.batch_id and b.import_id = i.id
     where i.id = $1
     group by c.error_code, c.http_status order by calls desc, last_at desc limit $2`,
    [id, MAX_CAUSES],
  )
}
