import type { Pool, PoolClient } from 'pg'
import type { ImportStatus } from '#src/model/import.ts'
import type { Limit } from '../throttle.ts'

/** An import with its sums, as the database gives it: whole numbers beyond 32 bits as text. */
export type SummaryRow = {
  readonly id: string
  readonly account: string
  readonly page_id: string
  readonly method: string
  readonly status: ImportStatus
  readonly file: string
  readonly created_at: Date
  readonly finished_at: Date | null
  readonly purged_at: Date | null
  readonly read: number
  readonly sent: number
  readonly rejected: number
  readonly duplicate: number
  readonly suppressed: number
  readonly already_imported: number
  readonly uncertain: number
  readonly pending: number
  readonly batches: number
  readonly requests: number
  readonly duration_ms: number
  readonly pause_code: string | null
  readonly pause_http_status: number | null
  readonly pause_request_id: string | null
  readonly pause_message: string | null
  readonly pause_what_to_do: string | null
}

/** Of a batch in flight: its worker has been silent for longer than the call can last. */
export const IS_CLAIM_OVER = 'coalesce(b.claim_ends_at <= now(), false)'

/**
 * A batch of which nobody can say whether the platform took it: held for a person, in flight for longer than its call
 * can last, or to be sent again after an outcome that was not certain.
 */
export const IS_UNCERTAIN = `(b.state not in ('sent', 'rejected', 'split', 'left out') and (b.uncertain or b.state = 'uncertain'
  or (b.state = 'in flight' and ${IS_CLAIM_OVER})))`

/**
 * From the counts that are kept with the import, and the few batches whose claim is over and not settled yet. `batches`
 * are those made, without the ones split since, and, until the import is over, those to come.
 */
const SUMMARIES = `
  select i.id, i.account, i.page_id, i.method, i.status, i.file, i.created_at, i.finished_at, i.purged_at, i.read,
    i.sent, i.rejected, i.duplicate, i.suppressed, i.already_imported, i.uncertain + b.lost as uncertain,
    i.recipients - i.sent - i.uncertain - b.lost as pending,
    i.batches + case when i.finished_at is null
      then ceil((i.recipients - i.batched)::numeric / least(i.batch_rows, i.most_rows))::int else 0 end as batches,
    i.requests,
    round(extract(epoch from
        coalesce(i.finished_at, i.rests_since, case when i.confirmed_at is null then i.staged_at end, now())
        - coalesce(i.confirmed_at, i.created_at)) * 1000 - i.rested_ms)::float8 as duration_ms,
    i.pause_code,
    (select b.http_status from ferry.import_batches b
     where b.import_id = i.id and b.state in ('ready', 'doubted', 'uncertain') and b.request_id = i.pause_request_id
     limit 1) as pause_http_status,
    i.pause_request_id, i.pause_message, i.pause_what_to_do
  from ferry.imports i
  cross join lateral (
    select coalesce(sum(b.rows), 0)::int as lost from ferry.import_batches b
    where b.import_id = i.id and b.state = 'in flight' and not b.uncertain and ${IS_CLAIM_OVER}) b`

/** Null if there is no import of that id. */
export async function loadSummaryRow(client: Pool | PoolClient, id: bigint): Promise<SummaryRow | null> {
  const { rows } = await client.query<SummaryRow>(`${SUMMARIES} where i.id = $1`, [id])
  return rows[0] ?? null
}

/** Which imports are wanted; what is left out does not narrow them. */
export type ImportFilter = {
  readonly account?: string | undefined
  readonly status?: string | undefined
  readonly since?: Date | undefined
}

/** The newest imports first. */
export async function listSummaryRows(
  pool: Pool,
  limit: number,
  filter: ImportFilter = {},
): Promise<SummaryRow[]> {
  const { account, status, since } = filter
  const { rows } = await pool.query<SummaryRow>(
    `${SUMMARIES} where i.id in (
       select id from ferry.imports
       where ($2::text is null or account = $2) and ($3::text is null or status = $3)
         and ($4::timestamptz is null or created_at >= $4)
       order by id desc limit $1)
     order by i.id desc`,
    [limit, account ?? null, status ?? null, since ?? null],
  )
  return rows
}

export type Pace = {
  /** Batches not sent yet, those in flight included. */
  readonly batchesLeft: number
  /** Sent in the last minutes, the first of them `paceMs` ago. */
  readonly rowsSent: number
  readonly paceMs: number
  readonly inFlight: number
  /** Whether somebody has any import of this page in hand. */
  readonly attended: boolean
  /** The import of the same page that goes first. */
  readonly behind: string | null
  readonly backOffMs: number
  readonly backOffCode: string | null
}

/** Long enough to even out the bursts the limit allows, short enough to notice a change. */
const PACE_OVER_MS = 180_000

/** How fast an import goes, and what it may be waiting for; by indexes, for it may have tens of thousands of batches. */
export async function loadPace(pool: Pool, id: bigint): Promise<Pace | null> {
  const { rows } = await pool.query<Pace>(
    `select
       b.left + ceil(greatest(i.recipients - i.batched, 0)::numeric / least(i.batch_rows, i.most_rows))::int
         as "batchesLeft",
       s.rows as "rowsSent", b.in_flight as "inFlight",
       coalesce(extract(epoch from now() - s.since)::float8 * 1000, 0) as "paceMs",
       exists (select from ferry.leases l where l.name = $3 || i.account || ':' || i.page_id || ':' || i.method
               and l.expires_at > now()) as attended,
       (select min(e.id) from ferry.imports e
        where e.account = i.account and e.page_id = i.page_id and e.method = i.method and e.id < i.id
          and e.status in ('queued', 'running')) as behind,
       greatest(extract(epoch from i.retry_at - now())::float8 * 1000, 0) as "backOffMs",
       (select b.error_code from ferry.import_batches b
        where b.import_id = i.id and b.error_code is not null and b.claimed_at is not null
        order by b.claimed_at desc limit 1) as "backOffCode"
     from ferry.imports i
     cross join lateral (
       select count(*)::int as left, count(*) filter (where b.state = 'in flight')::int as in_flight
       from ferry.import_batches b where b.import_id = i.id and b.state in ('ready', 'in flight', 'doubted')) b
     cross join lateral (
       select coalesce(sum(b.rows), 0)::int as rows, min(b.sent_at) as since
       from ferry.import_batches b
       where b.import_id = i.id and b.state = 'sent' and b.sent_at > now() - $2 * interval '1 ms') s
     where i.id = $1`,
    [id, PACE_OVER_MS, LEASE_PREFIX],
  )
  return rows[0] ?? null
}

const LEASE_PREFIX = 'import:'

export type LimitState = {
  /** Until the next call of an import may begin. */
  readonly waitMs: number
  /** Until the end of what a 429 closed; 0 if nothing is closed. */
  readonly closedMs: number
  /** Calls that count in the longest window, and how long ago the first of them began. */
  readonly counted: number
  readonly countedForMs: number
}

/** Looks at the call log as `ferry.take_slot` does, with the same arithmetic, and takes nothing. */
export async function loadLimitState(pool: Pool, { limitKey, windows }: Limit): Promise<LimitState> {
  const { rows } = await pool.query<LimitState>(
    `with calls as (
       select c.started, least(c.finished, c.counted_by) as counts_until from ferry.platform_calls c
       where c.limit_key = $1 and c.operation = 'import-subscribers'
         and c.counted_by > now() - $4 * interval '1 ms'
         and least(c.finished, c.counted_by) > now() - $4 * interval '1 ms'
     ), windows as (
       select (select counts_until from calls
               where counts_until > now() - w.ms * interval '1 ms'
               order by counts_until desc offset w.most - 1 limit 1) + w.ms * interval '1 ms' as free_at
       from unnest($2::int[], $3::int[]) as w (most, ms)
     ), closed as (
       select max(l.blocked_until) as until from ferry.platform_limits l
       where l.limit_key = $1 and l.operation = 'import-subscribers'
     )
     select greatest(extract(epoch from greatest((select max(free_at) from windows), closed.until) - now()), 0)::float8
         * 1000 as "waitMs",
       greatest(extract(epoch from closed.until - now()), 0)::float8 * 1000 as "closedMs",
       (select count(*)::int from calls) as counted,
       coalesce(extract(epoch from now() - (select min(started) from calls)), 0)::float8 * 1000 as "countedForMs"
     from closed`,
    [
      limitKey,
      windows.map(window => window.most),
      windows.map(window => window.windowMs),
      Math.max(...windows.map(window => window.windowMs)),
    ],
  )
  const [row] = rows
  if (!row) throw new Error('the limits could not be looked at')
  return row
}
