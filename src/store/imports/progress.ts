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
 * The sums are over batches, of which there are few, not over recipients, of which there may be millions. `batches`
 * counts those made, without the ones split since, and, until the import is over, those to come.
 */
const SUMMARIES = `
  select i.id, i.account, i.page_id, i.method, i.status, i.file, i.created_at, i.finished_at, i.purged_at, i.read,
    b.sent, r.rejected, l.duplicate, l.suppressed, l.already_imported, b.uncertain,
    i.recipients - b.sent - b.uncertain as pending,
    b.batches + case when i.finished_at is null
      then ceil((i.recipients - b.rows)::numeric / least(i.batch_rows, i.most_rows))::int else 0 end as batches,
    c.requests,
    round(extract(epoch from coalesce(i.finished_at, case when i.confirmed_at is null then i.staged_at end, now())
      - coalesce(i.confirmed_at, i.created_at)) * 1000)::float8 as duration_ms,
    i.pause_code, p.http_status as pause_http_status, i.pause_request_id, i.pause_message, i.pause_what_to_do
  from ferry.imports i
  cross join lateral (
    select coalesce(sum(b.rows) filter (where b.state = 'sent'), 0)::int as sent,
      coalesce(sum(b.rows) filter (where ${IS_UNCERTAIN}), 0)::int as uncertain,
      coalesce(sum(b.rows), 0)::int as rows, count(*)::int as batches
    from ferry.import_batches b where b.import_id = i.id and b.state <> 'split') b
  cross join lateral (
    select count(*)::int as rejected from ferry.import_rejects r where r.import_id = i.id) r
  cross join lateral (
    select count(*) filter (where l.kind = 'duplicate')::int as duplicate,
      count(*) filter (where l.kind = 'suppressed')::int as suppressed,
      count(*) filter (where l.kind = 'already imported')::int as already_imported
    from ferry.import_left_out l where l.import_id = i.id) l
  cross join lateral (
    select count(*)::int as requests from ferry.import_batches b
    join ferry.platform_calls c on c.batch_id = b.id where b.import_id = i.id) c
  left join lateral (
    select c.http_status from ferry.import_batches b join ferry.platform_calls c on c.batch_id = b.id
    where b.import_id = i.id and c.request_id = i.pause_request_id limit 1) p on true`

/** Null if there is no import of that id. */
export async function loadSummaryRow(client: Pool | PoolClient, id: bigint): Promise<SummaryRow | null> {
  const { rows } = await client.query<SummaryRow>(`${SUMMARIES} where i.id = $1`, [id])
  return rows[0] ?? null
}

/** The newest imports first. */
export async function listSummaryRows(pool: Pool, limit: number): Promise<SummaryRow[]> {
  const { rows } = await pool.query<SummaryRow>(
    `${SUMMARIES} where i.id in (select id from ferry.imports order by id desc limit $1) order by i.id desc`,
    [limit],
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

/** How fast an import goes, and what it may be waiting for. */
export async function loadPace(pool: Pool, id: bigint): Promise<Pace | null> {
  const { rows } = await pool.query<Pace>(
    `select
       b.left + ceil(greatest(i.recipients - b.rows, 0)::numeric / least(i.batch_rows, i.most_rows))::int
         as "batchesLeft",
       b.recently as "rowsSent", b.in_flight as "inFlight",
       coalesce(extract(epoch from now() - b.recent)::float8 * 1000, 0) as "paceMs",
       exists (select from ferry.leases l where l.name = $3 || i.account || ':' || i.page_id || ':' || i.method
               and l.expires_at > now()) as attended,
       (select min(e.id) from ferry.imports e
        where e.account = i.account and e.page_id = i.page_id and e.method = i.method and e.id < i.id
          and e.status in ('queued', 'running')) as behind,
       greatest(extract(epoch from i.retry_at - now())::float8 * 1000, 0) as "backOffMs",
       (select b.error_code from ferry.import_batches b
        where b.import_id = i.id and b.error_code is not null order by b.claimed_at desc limit 1) as "backOffCode"
     from ferry.imports i
     cross join lateral (
       select count(*) filter (where b.state not in ('sent', 'rejected', 'uncertain', 'left out'))::int as left,
         count(*) filter (where b.state = 'in flight')::int as in_flight,
         coalesce(sum(b.rows), 0)::int as rows,
         coalesce(sum(b.rows) filter (where b.sent_at > now() - $2 * interval '1 ms'), 0)::int as recently,
         min(b.sent_at) filter (where b.sent_at > now() - $2 * interval '1 ms') as recent
       from ferry.import_batches b where b.import_id = i.id and b.state <> 'split') b
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
