import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { findAll, findMaybe, Int8 } from '#src/db/rows.ts'
import type { BatchState } from '#src/imports/states.ts'
import type { Disposition } from './decision.ts'
import { suspectsInSql } from './import-state.ts'
import type { ResponseDetails } from './pause.ts'
import { isProven } from './reject-rows.ts'
import { isAsked } from './suspects.ts'

export const BatchInFlight = z.object({
  id: Int8,
  rows: z.number(),
  setAside: z.array(Int8),
  proven: z.number(),
  resends: z.number(),
  /** Whether it was uncertain before this call. */
  uncertain: z.boolean(),
  /** Whether its call may have been made: it has a permit. */
  called: z.boolean(),
  /** The code that refused its last call, or the last call of the batch it was split from; null without a refusal. */
  lastCode: z.string().nullable(),
  /** See `SentBatch`. */
  refusedAlone: z.string().nullable(),
  /** Whether a person was asked about its only row, and resumed the import. */
  asked: z.boolean(),
})
export type BatchInFlight = Readonly<z.infer<typeof BatchInFlight>>

const COLUMNS = `b.id, b.rows, b.set_aside, b.resends, b.uncertain,
  (select count(*)::int from unnest(b.set_aside) line where ${isProven('b.reasons', 'line')}) as proven, b.call_id is not null as called,
  coalesce(b.error_code, (select p.error_code from ferry.import_batches p where p.id = b.parent_id)) as last_code,
  case when b.rows = 1 then (select r.value ->> 'code' from jsonb_each(b.reasons) r limit 1) end as refused_alone,
  ${isAsked('b.reasons')} as asked`

/** The rows of the import that were refused alone are counted with it. */
const ClaimedBatch = BatchInFlight.extend({ suspects: z.number() })
type ClaimedBatch = Readonly<z.infer<typeof ClaimedBatch>>

/** Locks the batch of a claim. Null if the claim was reclaimed meanwhile: then its outcome changes nothing. */
export function findClaimed(client: PoolClient, claim: string): Promise<ClaimedBatch | null> {
  return findMaybe(
    client,
    ClaimedBatch,
    `select ${COLUMNS}, ${suspectsInSql('b.import_id')} as suspects from ferry.import_batches b
     where b.claim = $1 and b.state = 'in flight' for update of b`,
    [claim],
  )
}

/** Locks the batches of an import whose claims have expired. */
export function findExpired(client: PoolClient, importId: bigint): Promise<BatchInFlight[]> {
  return findAll(
    client,
    BatchInFlight,
    `select ${COLUMNS} from ferry.import_batches b
     where b.import_id = $1 and ferry_internal.is_expired_claim(b.state, b.claim_ends_at, clock_timestamp())
     order by b.id for update of b`,
    [importId],
  )
}

const BatchRow = z.object({
  line: Int8,
  recipient: z.string(),
  all: z.boolean(),
  componentIds: z.array(z.string()),
  locale: z.string(),
})
export type BatchRow = Readonly<z.infer<typeof BatchRow>>

/**
 * The rows of a batch that are to be sent: those set aside are left out. Looked up by their range (OFFSET keeps the
 * planner from joining them, for which it would read every row of the import).
 */
export function loadRows(pool: Pool, batchId: bigint): Promise<BatchRow[]> {
  return findAll(
    pool,
    BatchRow,
    `select r.line, r.recipient, r."all", coalesce(r.component_ids, '{}') as component_ids, r.locale
     from ferry.import_batches b
     cross join lateral (
       select * from ferry.import_recipients r
       where r.import_id = b.import_id and r.line between b.from_line and b.to_line offset 0) r
     where b.id = $1 and r.line <> all (b.set_aside) order by r.line`,
    [batchId],
  )
}

/** The stored state of a batch after its call. One that is to be split is ready until it is. */
const STATES = {
  sent: 'sent',
  ready: 'ready',
  uncertain: 'uncertain',
  split: 'ready',
  suspect: 'suspect',
  rejected: 'rejected',
} as const satisfies Record<Disposition['to'], BatchState>

/** Ends a claim: writes the batch's new state and how the platform answered. Rows to be rejected are still to be moved. */
export async function endClaim(
  client: PoolClient,
  batch: BatchInFlight,
  end: Disposition,
  details: ResponseDetails,
): Promise<void> {
  const resent = (end.to === 'ready' || end.to === 'split') && end.resent
  const becomesUncertain = resent || end.to === 'uncertain'
  const isDecided = end.to === 'sent' || end.to === 'rejected'
  if (resent && !batch.uncertain && batch.setAside.length > 0) await noteSetAside(client, batch.id)
  await client.query(
    `update ferry.import_batches set state = $2, claim = null, claim_ends_at = null,
       set_aside = coalesce($3::bigint[], set_aside), resends = resends + $4::int,
       uncertain = (uncertain or $5) and not $6, http_status = $7, error_code = $8, request_id = $9, message = $10,
       sent_at = case when $2 = 'sent' then clock_timestamp() end
     where id = $1`,
    [
      batch.id,
      STATES[end.to],
      end.to === 'ready' ? end.setAside : null,
      resent ? 1 : 0,
      becomesUncertain,
      isDecided,
      details.httpStatus,
      details.errorCode,
      details.requestId,
      details.message,
    ],
  )
  if (end.to === 'split') await client.query('select ferry_internal.split_batch($1)', [batch.id])
  if (end.to === 'uncertain') {
    await client.query(
      `select ferry_internal.carve_batch(id, $2) from ferry.import_batches where id = $1 and set_aside <> '{}'`,
      [batch.id, batch.uncertain],
    )
  }
}

/**
 * Notes of the lines set aside that they were not in the call, which is the first of unknown outcome: how often their batch was
 * sent again before it. `carve_batch.sql` reads it.
 */
async function noteSetAside(client: PoolClient, batchId: bigint): Promise<void> {
  await client.query(
    `update ferry.import_batches b set reasons = (
       select coalesce(jsonb_object_agg(r.key, r.value || jsonb_build_object('resends', b.resends)), '{}')
       from jsonb_each(b.reasons) r)
     where id = $1`,
    [batchId],
  )
}

/** Keeps the platform's answer, and the newest call of that moment, as the reason of lines that may be rejected later. */
export async function keepReasons(
  client: PoolClient,
  batchId: bigint,
  lines: readonly bigint[],
  { errorCode, message, requestId }: ResponseDetails,
): Promise<void> {
  await client.query(
    `update ferry.import_batches set reasons = reasons || (
       select coalesce(jsonb_object_agg(line, $3::jsonb || jsonb_build_object('toCall',
         (select max(c.id)::text from ferry.platform_calls c))), '{}') from unnest($2::bigint[]) as line)
     where id = $1`,
    [batchId, lines, JSON.stringify({ code: errorCode, message, requestId })],
  )
}
