import type { Pool } from 'pg'
import { z } from 'zod'
import { findInstallation } from '#src/db/installation.ts'
import { findAll, findValue, Int8 } from '#src/db/rows.ts'
import { namedIn } from '#src/imports/recipient-text.ts'
import { BEYOND_ASCII, openRecipientHash } from '#src/imports/spellings.ts'
import { IS_CLAIM_EXPIRED, IS_UNCERTAIN } from '#src/imports/states.ts'
import type { SummaryRow } from './summary.ts'

/** What happened to one row of the file. */
const RecipientRow = z.object({
  line: z.string(),
  /** Null once purged, for a reject, and for a row of which no recipient could be read. */
  recipient: z.string().nullable(),
  /** `pending`, `in flight`, `sent`, `uncertain`, `rejected`, `duplicate`, `suppressed` or `already imported`. */
  state: z.string(),
  /** Why it is rejected or left out; null otherwise. */
  reason: z.string().nullable(),
  /** What is wrong with a rejected row, without the recipient; null for the others. */
  message: z.string().nullable(),
  batch: z.string().nullable(),
  /** How often its batch was sent again after an uncertain outcome. */
  resends: z.number().nullable(),
  sentAt: z.date().nullable(),
  call: z.string().nullable(),
  requestId: z.string().nullable(),
})
export type RecipientRow = Readonly<z.infer<typeof RecipientRow>>

/** With the row of the file if it was rejected before its recipient was known. */
const FoundRow = RecipientRow.extend({ raw: z.string().nullable() })
type FoundRow = Readonly<z.infer<typeof FoundRow>>

/** Rows per page: enough that the query costs little compared with reading its rows. */
const PAGE = 5_000

/** The batch of a row is the last unsplit one that begins at or before its line, if it reaches that far. */
const SENT_OR_TO_BE_SENT = `
  select r.line, r.recipient, r.recipient_hash,
    case when b.state = 'in flight' and not ${IS_CLAIM_EXPIRED} then b.state when ${IS_UNCERTAIN} then 'uncertain'
      when b.state is null or b.state in ('ready', 'suspect') then 'pending' else b.state end as state,
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

/** Yields what happened to every row, in the order of the file, page by page. */
export async function* listRecipients(pool: Pool, id: bigint): AsyncGenerator<readonly RecipientRow[]> {
  for (let after = '0'; ; ) {
    const page = await findAll(
      pool,
      RecipientRow,
      `select ${COLUMNS} from (
         (${SENT_OR_TO_BE_SENT} and r.line > $2 order by r.line limit $3)
         union all
         (${LEFT_OUT} and l.line > $2 order by l.line limit $3)
         union all
         (${REJECTED} and r.line > $2 order by r.line limit $3)
       ) t order by line limit $3`,
      [id, after, PAGE],
    )
    const last = page.at(-1)
    if (!last) return
    yield page
    after = last.line
  }
}

/**
 * Returns what happened to every row of one recipient. A row is found by the recipient's hash, which stays after a purge and
 * with what the platform rejected, or as it was written in the file, without regard to case. So is every row rejected from
 * the file in which the recipient stands as a whole. Until the import is purged, rejects carry the recipient asked for: none
 * is stored with them.
 */
export async function findRecipient(
  pool: Pool,
  { id, method, purgedAt }: Pick<SummaryRow, 'id' | 'method' | 'purgedAt'>,
  address: string,
): Promise<RecipientRow[]> {
  const recipient = address.trim()
  const installation = await findInstallation(pool)
  // Staging makes it: without one there are no rows.
  if (!installation) return []
  const hash = openRecipientHash(installation.id, method)(recipient)
  const lastLine = await loadLastLine(pool, id)
  const found: FoundRow[] = []
  for (let after = -1n; after < lastLine; after += SEARCHED_LINES) {
    const to = after + SEARCHED_LINES
    const params = [id, recipient, hash, BEYOND_ASCII.test(recipient), after, to]
    found.push(...(await findAll(pool, FoundRow, FIND, params)))
  }
  return found
    .filter(({ raw }) => raw === null || namedIn(raw, [{ line: 0n, recipient }]).length > 0)
    .map(({ raw, ...row }) => (row.state === 'rejected' && purgedAt === null ? { ...row, recipient } : row))
}

/**
 * Lines that one statement searches: it reads them all, because an index by hash would slow staging down. Rejects are
 * the slowest to search: this many took 0.75 s on a busy machine. A statement of a page is stopped after two seconds.
 */
const SEARCHED_LINES = 250_000n

/** Equal hashes find every spelling of a recipient, so others are compared only where Postgres might know better. */
const FIND = `
  select ${COLUMNS}, raw from (
    ${SENT_OR_TO_BE_SENT} and r.line > $5 and r.line <= $6
    union all ${LEFT_OUT} and l.line > $5 and l.line <= $6
    union all ${REJECTED} and r.line > $5 and r.line <= $6) t
  where recipient_hash = $3 or (($4::boolean or recipient_hash is null) and lower(recipient) = lower($2))
    or position(lower($2) in lower(raw)) > 0
  order by line`

/** The last line of the file that became a row; -1 if none did. */
function loadLastLine(pool: Pool, id: string): Promise<bigint> {
  return findValue(
    pool,
    Int8,
    `select greatest((select max(line) from ferry.import_recipients where import_id = $1),
       (select max(line) from ferry.import_left_out where import_id = $1),
       (select max(line) from ferry.import_rejects where import_id = $1), -1)`,
    [id],
  )
}

/** The message if `findRecipient` found nothing. */
export function nobodyFound(id: bigint, isPurged: boolean): string {
  const nobody = `import ${id} has no row of that recipient`
  return isPurged
    ? `${nobody}; it was purged, so the rows that were rejected from its file cannot be searched`
    : nobody
}
