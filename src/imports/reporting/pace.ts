import type { Pool } from 'pg'
import { z } from 'zod'
import { isHeldInSql } from '#src/db/lease-rows.ts'
import type { LimitState } from '#src/db/limits.ts'
import { findAll, findMaybe } from '#src/db/rows.ts'
import { isAliveInSql } from '#src/db/workers.ts'
import { ImportNotFound } from '#src/imports/errors.ts'
import { isOlderActiveInSql, leaseNameInSql } from '#src/imports/page.ts'
import { IS_OPEN } from '#src/imports/states.ts'
import { counted } from '#src/model/counted.ts'

/** How fast an import goes, and what it may be waiting for. */
const Pace = z.object({
  /** Batches not sent yet, those in flight included. */
  batchesLeft: z.number(),
  /** The most rows that a call carries. */
  batchRows: z.number(),
  /** Since a person last queued it: confirmed, resumed, or resolved the uncertain batches. */
  queuedForMs: z.number(),
  /** Rows sent in the last `paceMs`. */
  rowsSent: z.number(),
  /** Since the first response after it was queued, at most `PACE_OVER_MS`. */
  paceMs: z.number(),
  inFlight: z.number(),
  /** Whether a worker is processing any import of this page. */
  hasWorker: z.boolean(),
  /** Whether a worker that was seen lately has the account; null if none was seen. */
  isAccountServed: z.boolean().nullable(),
  /** The import of the same page that goes first. */
  behind: z.string().nullable(),
  backOffMs: z.number(),
  backOffCode: z.string().nullable(),
})
export type Pace = Readonly<z.infer<typeof Pace>>

/** Long enough to even out the bursts the limit allows, short enough to notice a change. */
export const PACE_OVER_MS = 180_000

/** Reads by indexes alone: an import may have tens of thousands of batches. Throws `ImportNotFound`. */
export async function loadPace(pool: Pool, id: bigint): Promise<Pace> {
  const pace = await findMaybe(
    pool,
    Pace,
    `select
       b.left + ceil(greatest(i.recipients - i.batched, 0)::numeric / least(i.batch_rows, i.max_rows))::int
         as batches_left,
       least(i.batch_rows, i.max_rows) as batch_rows,
       extract(epoch from now() - q.at)::float8 * 1000 as queued_for_ms,
       s.rows as rows_sent, b.in_flight,
       least(coalesce(extract(epoch from now() - f.at)::float8 * 1000, 0), $2) as pace_ms,
       ${isHeldInSql(leaseNameInSql('i'))} as has_worker,
       (select bool_or(i.account = any(w.accounts)) from ferry.workers w where ${isAliveInSql('w')}) as is_account_served,
       (select min(older.id) from ferry.imports older where ${isOlderActiveInSql('older', 'i')}) as behind,
       greatest(extract(epoch from i.retry_at - now())::float8 * 1000, 0) as back_off_ms,
       (select b.error_code from ferry.import_batches b
        where b.import_id = i.id and b.error_code is not null and b.claimed_at is not null
        order by b.claimed_at desc limit 1) as back_off_code
     from ferry.imports i
     cross join lateral (
       select count(*)::int as left, count(*) filter (where b.state = 'in flight')::int as in_flight
       from ferry.import_batches b where b.import_id = i.id and ${IS_OPEN}) b
     cross join lateral (
       select coalesce(max(a.at), i.confirmed_at, i.created_at) as at from ferry.audit a
       where a.subject_kind = 'import' and a.subject_id = i.id::text
         and a.action in ('confirm', 'resume', 'resolve')) q
     cross join lateral (
       select min(b.sent_at) as at from ferry.import_batches b
       where b.import_id = i.id and b.state = 'sent' and b.sent_at > q.at) f
     cross join lateral (
       select coalesce(sum(b.rows), 0)::int as rows from ferry.import_batches b
       where b.import_id = i.id and b.state = 'sent'
         and b.sent_at > greatest(q.at, now() - $2 * interval '1 ms')) s
     where i.id = $1`,
    [id, PACE_OVER_MS],
  )
  if (!pace) throw new ImportNotFound(id)
  return pace
}

/** One minute of an account's imports. */
const ThroughputMinute = z.object({
  minute: z.date(),
  /** Calls that began in it, and rows that the platform accepted with them: not those that a person says were sent. */
  calls: z.number(),
  rows: z.number(),
  /** Calls that its limit allows in a minute; null if no worker has written that yet. */
  allowed: z.number().nullable(),
})
export type ThroughputMinute = Readonly<z.infer<typeof ThroughputMinute>>

/** Returns the last hour of an account's imports, the oldest minute first. Minutes without a call are not in it. */
export function loadThroughput(pool: Pool, account: string): Promise<ThroughputMinute[]> {
  return findAll(
    pool,
    ThroughputMinute,
    `select minute, calls, rows, allowed from ferry.import_throughput(date_trunc('minute', now()) - interval '59 minutes')
     where account = $1 order by minute`,
    [account],
  )
}

export const NO_WORKER = 'No worker is processing this import: start `ferry worker` if none is running'
export const NO_WORKER_OF_ACCOUNT =
  'No worker has the account of this import: start `ferry worker` with the account in its settings'
export const WORKER_SOON = 'A worker takes it within seconds'

/** A worker notices a queued import within this time, if one runs: it looks every 5 s. */
export const TAKEN_WITHIN_MS = 10_000

/** Returns why nothing of an active import is sent at this moment, in words; null if something is sent. */
export function whyWaiting(pace: Pace, limit: LimitState | null): string | null {
  if (pace.behind !== null) {
    const first = `Import ${pace.behind} of the same page goes first`
    if (pace.hasWorker) return first
    return pace.isAccountServed === false
      ? `${first}, and no worker has their account: start \`ferry worker\` with the account in its settings, or cancel both imports`
      : `${first}, and no worker is processing it: start \`ferry worker\`, or cancel that import`
  }
  if (!pace.hasWorker) {
    if (pace.isAccountServed === false) return NO_WORKER_OF_ACCOUNT
    return pace.isAccountServed && pace.queuedForMs < TAKEN_WITHIN_MS ? WORKER_SOON : NO_WORKER
  }
  if (pace.backOffMs > 0) {
    return `Backing off for ${seconds(pace.backOffMs)}${pace.backOffCode ? ` after ${pace.backOffCode}` : ''}`
  }
  if (limit && limit.closedMs > 0) {
    const until = new Date(Date.now() + limit.closedMs).toISOString().slice(11, 19)
    const why = limit.hasRefused ? 'a 429' : 'a change of the database'
    return `After ${why}, no import is sent until ${until}Z (${seconds(limit.closedMs)})`
  }
  if (limit && limit.waitMs > 0) return `The limit allows the next call in ${seconds(limit.waitMs)}`
  if (pace.inFlight > 0) return `Waiting for ${counted(pace.inFlight, 'response')}`
  return null
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
