import type { Pool, PoolClient } from 'pg'
import type { ImportCounts } from '#src/model/import.ts'
import { IS_CLAIM_OVER, IS_UNCERTAIN, loadSummaryRow, type SummaryRow } from './progress.ts'

export type BatchRow = {
  readonly id: string
  readonly from_line: string
  readonly to_line: string
  readonly rows: number
  readonly state: string
  readonly resends: number
  readonly uncertain: boolean
  readonly claimed_at: Date | null
  readonly sent_at: Date | null
  readonly http_status: number | null
  readonly error_code: string | null
  readonly message: string | null
  /** Of every call made for it that was answered, in the order they were made. */
  readonly request_ids: readonly string[]
  /** How many calls had rows of it in them, those of the batches it was split from too. */
  readonly calls: number
}

export type ReasonRow = {
  /** `rejected`, `duplicate`, `suppressed` or `already imported`. */
  readonly kind: string
  /** Who rejected it: `file` or `platform`; null for what was left out. */
  readonly origin: string | null
  readonly reason: string
  readonly rows: number
}

export type ImportReport = {
  /** From what is stored with batches, as `imports list` has it. */
  readonly row: SummaryRow
  /** The same, counted anew from every row. */
  readonly counted: Omit<ImportCounts, 'read'>
  readonly batches: readonly BatchRow[]
  readonly reasons: readonly ReasonRow[]
}

/**
 * Everything about an import at one instant, counted from its rows; null if there is none of that id.
 *
 * The transaction is `repeatable read`: the import may go on meanwhile, and sums of two instants would not agree.
 */
export async function loadReport(pool: Pool, id: bigint): Promise<ImportReport | null> {
  const client = await pool.connect()
  try {
    await client.query('begin isolation level repeatable read read only')
    const row = await loadSummaryRow(client, id)
    if (!row) return null
    return {
      row,
      counted: await countRows(client, id),
      batches: await listBatches(client, id),
      reasons: await countReasons(client, id),
    }
  } finally {
    await client.query('rollback').catch(() => {})
    client.release()
  }
}

/** Each recipient is counted by the batch its line is in; beyond the last batch, or in one not decided, it is pending. */
async function countRows(client: PoolClient, id: bigint): Promise<ImportReport['counted']> {
  const { rows } = await client.query<ImportReport['counted']>(
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
  const [counted] = rows
  if (!counted) throw new Error('an aggregate gave no row')
  return counted
}

async function listBatches(client: PoolClient, id: bigint): Promise<BatchRow[]> {
  const { rows } = await client.query<BatchRow>(
    `select b.id, b.from_line, b.to_line, b.rows,
       case when b.state = 'in flight' and ${IS_CLAIM_OVER} then 'uncertain' else b.state end as state, b.resends, b.uncertain, b.claimed_at, b.sent_at,
       b.http_status, b.error_code, b.message,
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
  return rows
}

/** The commonest first. */
async function countReasons(client: PoolClient, id: bigint): Promise<ReasonRow[]> {
  const { rows } = await client.query<ReasonRow>(
    `select 'rejected' as kind, origin, reason, count(*)::int as rows from ferry.import_rejects
       where import_id = $1 group by origin, reason
     union all
     select kind, null, reason, count(*)::int from ferry.import_left_out where import_id = $1 group by kind, reason
     order by rows desc, kind, reason`,
    [id],
  )
  return rows
}
