import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'
import { LEFT_OUT_KINDS, REJECT_ORIGINS } from '#src/imports/states.ts'

/** Why rows of an import are not sent, and how many. */
const ReasonRow = z.object({
  kind: z.enum(['rejected', ...LEFT_OUT_KINDS]),
  /** Null for what was left out. */
  origin: z.enum(REJECT_ORIGINS).nullable(),
  reason: z.string(),
  rows: z.number(),
})
export type ReasonRow = Readonly<z.infer<typeof ReasonRow>>

/** Rejects that the view counts by reason at most, and as many rows left out: that takes 0.03 s to 0.1 s on a busy machine. */
export const MAX_COUNTED_REASONS = 10_000

/** Returns why rows are not sent, the most frequent reason first, counted in the first `MAX_COUNTED_REASONS`. Readers may do so. */
export function listReasons(pool: Pool, id: bigint): Promise<ReasonRow[]> {
  return findAll(
    pool,
    ReasonRow,
    `select kind, rejected_by as origin, reason, rows from ferry_internal.import_reasons where import = $1
     order by rows desc, kind, reason`,
    [id],
  )
}

/** Returns why rows are not sent and how many, the most frequent reason first. */
export function countReasons(client: PoolClient, id: bigint): Promise<ReasonRow[]> {
  return findAll(
    client,
    ReasonRow,
    `select 'rejected' as kind, origin, reason, count(*)::int as rows from ferry.import_rejects
       where import_id = $1 group by origin, reason
     union all
     select kind, null, reason, count(*)::int from ferry.import_left_out where import_id = $1 group by kind, reason
     order by rows desc, kind, reason`,
    [id],
  )
}
