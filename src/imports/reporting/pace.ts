import type { Pool } from 'pg'
import { z } from 'zod'
import { isHeldInSql } from '#src/db/lease-rows.ts'
import { SILENT_AFTER_MS } from '#src/db/workers.ts'
import { ImportNotFound } from '#src/imports/errors.ts'
import { isOlderActiveInSql, leaseNameInSql } from '#src/imports/page.ts'
import { IS_OPEN } from '#src/imports/uncertain.ts'

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
  /** Whether any worker was seen lately, whatever it does. */
  isAnyWorkerAlive: z.boolean(),
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
  const { rows } = await pool.query(
    `select
       b.left + ceil(greatest(i.recipients - i.batched, 0)::numeric / least(i.batch_rows, i.most_rows))::int
         as "batchesLeft",
       least(i.batch_rows, i.most_rows) as "batchRows",
       extract(epoch from now() - q.at)::float8 * 1000 as "queuedForMs",
       s.rows as "rowsSent", b.in_flight as "inFlight",
       least(coalesce(extract(epoch from now() - f.at)::float8 * 1000, 0), $2) as "paceMs",
       ${isHeldInSql(leaseNameInSql('i'))} as "hasWorker",
       exists (select from ferry.workers w where w.seen_at > now() - $3 * interval '1 ms') as "isAnyWorkerAlive",
       (select min(older.id) from ferry.imports older where ${isOlderActiveInSql('older', 'i')}) as behind,
       greatest(extract(epoch from i.retry_at - now())::float8 * 1000, 0) as "backOffMs",
       (select b.error_code from ferry.import_batches b
        where b.import_id = i.id and b.error_code is not null and b.claimed_at is not null
        order by b.claimed_at desc limit 1) as "backOffCode"
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
    [id, PACE_OVER_MS, SILENT_AFTER_MS],
  )
  const [pace] = Pace.array().parse(rows)
  if (!pace) throw new ImportNotFound(id)
  return pace
}
