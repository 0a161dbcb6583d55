import type { PoolClient } from 'pg'
import type { BatchState } from '#src/imports/states.ts'
import type { BatchInFlight } from './batch-in-flight.ts'
import type { Disposition } from './decision.ts'
import type { ResponseDetails } from './pause.ts'

/** The stored state of a batch after its call. */
const STATES = {
  sent: 'sent',
  ready: 'ready',
  uncertain: 'uncertain',
  split: 'split',
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
