import type { PoolClient } from 'pg'
import { z } from 'zod'
import { onlyRow } from '#src/db/rows.ts'
import { IS_UNCERTAIN } from '#src/imports/uncertain.ts'

/** The counts of an import that its rows give; those kept along the way must be the same. */
const RowCounts = z.object({
  sent: z.number(),
  rejected: z.number(),
  duplicate: z.number(),
  suppressed: z.number(),
  alreadyImported: z.number(),
  uncertain: z.number(),
  pending: z.number(),
})
export type RowCounts = Readonly<z.infer<typeof RowCounts>>

/**
 * Counts every row of an import. A recipient is counted by the batch its line is in: it is pending if it is in no batch yet,
 * or in one that was neither sent nor is uncertain.
 */
export async function countRows(client: PoolClient, id: bigint): Promise<RowCounts> {
  const { rows } = await client.query(
    `with batches as (
       select b.state, ${IS_UNCERTAIN} as is_uncertain,
         (select count(*) from ferry.import_recipients r
          where r.import_id = b.import_id and r.line between b.from_line and b.to_line) as rows
       from ferry.import_batches b where b.import_id = $1 and b.state <> 'split'
     )
     select coalesce(sum(rows) filter (where state = 'sent'), 0)::int as sent,
       coalesce(sum(rows) filter (where is_uncertain), 0)::int as uncertain,
       coalesce(sum(rows) filter (where state <> 'sent' and not is_uncertain), 0)::int
         + (select count(*)::int from ferry.import_recipients r
            where r.import_id = $1 and r.line > (select batched_to from ferry.imports where id = $1)) as pending,
       (select count(*)::int from ferry.import_rejects where import_id = $1) as rejected,
       (select count(*)::int from ferry.import_left_out where import_id = $1 and kind = 'duplicate') as duplicate,
       (select count(*)::int from ferry.import_left_out where import_id = $1 and kind = 'suppressed') as suppressed,
       (select count(*)::int from ferry.import_left_out where import_id = $1 and kind = 'already imported')
         as "alreadyImported"
     from batches`,
    [id],
  )
  return onlyRow(RowCounts.array().parse(rows), 'counting the rows of an import')
}
