import type { Pool } from 'pg'
import { IS_CLAIM_OVER } from './progress.ts'

/** What became of one row of the file. */
export type RecipientRow = {
  readonly line: string
  /** Null once purged, for a reject, and for a row whose recipient could not be told. */
  readonly recipient: string | null
  /** `pending`, `in flight`, `sent`, `uncertain`, `rejected`, `duplicate`, `suppressed` or `already imported`. */
  readonly state: string
  /** Why it is rejected or left out; null otherwise. */
  readonly reason: string | null
  /** What is wrong with a rejected row, without the recipient; null for the others. */
  readonly message: string | null
  readonly batch: string | null
  /** How often its batch was sent again after an outcome that was not certain. */
  readonly resends: number | null
  readonly sent_at: Date | null
  readonly call: string | null
  readonly request_id: string | null
}

/** Rows of a page: enough that a page costs more than asking for it. */
const PAGE = 5_000

/** The batch of a row is the last unsplit one that begins at or before its line, if it reaches that far. */
const SENT_OR_TO_BE_SENT = `
  select r.line, r.recipient, r.recipient_hash,
    case when b.state is null or b.state = 'ready' then 'pending'
      when b.state = 'in flight' and ${IS_CLAIM_OVER} then 'uncertain' else b.state end as state,
    null as reason, null as message, b.id as batch, b.resends, b.sent_at, b.call_id as call, b.request_id, null as raw
  from ferry.import_recipients r
  left join lateral (
    select b.* from ferry.import_batches b
    where b.import_id = r.import_id and b.from_line <= r.line and b.state <> 'split'
    order by b.from_line desc limit 1
  ) b on b.to_line >= r.line
  where r.import_id = $1`

const LEFT_OUT = `
  select l.line, l.recipient, l.recipient_hash, l.kind,
    case when l.kept_line is not null then l.reason || ': line ' || l.kept_line
      when l.earlier_import is not null then l.reason || ': import ' || l.earlier_import else l.reason end,
    null, null, null, null, null, null, null
  from ferry.import_left_out l where l.import_id = $1`

const REJECTED = `
  select r.line, null, r.recipient_hash, 'rejected', r.reason, r.message, r.batch_id, null, null, null, r.request_id,
    case when r.origin = 'file' then r.raw end
  from ferry.import_rejects r where r.import_id = $1`

const COLUMNS = 'line, recipient, state, reason, message, batch, resends, sent_at, call, request_id'

/** Every row, in the order of the file, page by page. */
export async function* listRecipients(pool: Pool, id: bigint): AsyncGenerator<readonly RecipientRow[]> {
  for (let after = '0'; ; ) {
    const { rows } = await pool.query<RecipientRow>(
      `select ${COLUMNS} from (
         (${SENT_OR_TO_BE_SENT} and r.line > $2 order by r.line limit $3)
         union all
         (${LEFT_OUT} and l.line > $2 order by l.line limit $3)
         union all
         (${REJECTED} and r.line > $2 order by r.line limit $3)
       ) t order by line limit $3`,
      [id, after, PAGE],
    )
    const last = rows.at(-1)
    if (!last) return
    yield rows
    after = last.line
  }
}

/** A row found, with what stood in the file if it was rejected before its recipient was known. */
export type FoundRow = RecipientRow & { readonly raw: string | null }

/**
 * Every row of one recipient, found by its hash (as stored after a purge, and with what the platform rejected), or as
 * written in the file, without regard to case; and every row rejected from the file in which it stands somewhere, which
 * may be as a part of another's.
 */
export async function findRecipient(
  pool: Pool,
  id: bigint,
  recipient: string,
  hash: string,
): Promise<FoundRow[]> {
  const { rows } = await pool.query<FoundRow>(
    `select ${COLUMNS}, raw from (${SENT_OR_TO_BE_SENT} union all ${LEFT_OUT} union all ${REJECTED}) t
     where recipient_hash = $3 or lower(recipient) = lower($2) or position(lower($2) in lower(raw)) > 0
     order by line`,
    [id, recipient, hash],
  )
  return rows
}
