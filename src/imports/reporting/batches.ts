import type { PoolClient } from 'pg'
import { z } from 'zod'
import { BATCH_STATES } from '#src/imports/states.ts'
import { IS_CLAIM_EXPIRED } from '#src/imports/uncertain.ts'

const BatchRow = z.object({
  id: z.string(),
  from_line: z.string(),
  to_line: z.string(),
  rows: z.number(),
  state: z.enum(BATCH_STATES),
  resends: z.number(),
  uncertain: z.boolean(),
  claimed_at: z.date().nullable(),
  sent_at: z.date().nullable(),
  http_status: z.number().nullable(),
  error_code: z.string().nullable(),
  message: z.string().nullable(),
  /** Of every call made for it that was answered, in the order they were made. */
  request_ids: z.array(z.string()),
  /** How many calls had rows of it in them, those of the batches it was split from too. */
  calls: z.number(),
})
export type BatchRow = Readonly<z.infer<typeof BatchRow>>

/** Returns the batches of an import in the order of their lines, without those that were split. */
export async function listBatches(client: PoolClient, id: bigint): Promise<BatchRow[]> {
  const { rows } = await client.query(
    `select b.id, b.from_line, b.to_line, b.rows,
       case when ${IS_CLAIM_EXPIRED} then 'uncertain' else b.state end as state, b.resends,
       b.uncertain, b.claimed_at, b.sent_at, b.http_status, b.error_code, b.message,
       array(select c.request_id from ferry.platform_calls c
             where (c.batch_id = b.id or c.id = b.call_id) and c.request_id is not null order by c.id) as request_ids,
       (with recursive source as (
          select b.id, b.parent_id
          union all
          select p.id, p.parent_id from source s join ferry.import_batches p on p.id = s.parent_id)
        select count(*)::int from source s join ferry.platform_calls c on c.batch_id = s.id) as calls
     from ferry.import_batches b where b.import_id = $1 and b.state <> 'split' order by b.from_line`,
    [id],
  )
  return BatchRow.array().parse(rows)
}
