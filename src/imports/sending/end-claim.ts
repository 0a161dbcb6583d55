import type { PoolClient } from 'pg'
import { z } from 'zod'
import type { BatchState } from '#src/imports/states.ts'
import type { Disposition } from './decision.ts'
import type { ResponseDetails } from './pause.ts'

const BatchInFlight = z.object({
  id: z.string().transform(BigInt),
  rows: z.number(),
  setAside: z.array(z.string().transform(BigInt)),
  /** Whether it was uncertain before this call. */
  uncertain: z.boolean(),
  /** What its last call was refused with; null if it had none, or is a half of another. */
  lastCode: z.string().nullable(),
})
export type BatchInFlight = Readonly<z.infer<typeof BatchInFlight>>

/** The batch of a claim; null if the claim was reclaimed meanwhile: then its outcome changes nothing. */
export async function findClaimed(client: PoolClient, claim: string): Promise<BatchInFlight | null> {
  const { rows } = await client.query(
    `select id, rows, set_aside as "setAside", uncertain, error_code as "lastCode" from ferry.import_batches
     where claim = $1 and state = 'in flight' for update`,
    [claim],
  )
  return BatchInFlight.array().parse(rows)[0] ?? null
}

/** The stored state of a batch after its call. */
const STATES = {
  sent: 'sent',
  ready: 'ready',
  uncertain: 'uncertain',
  split: 'split',
  suspect: 'doubted',
  rejected: 'rejected',
} as const satisfies Record<Disposition['to'], BatchState>

/**
 * Ends a claim: writes the batch's new state and how the platform answered. Rows to be rejected are still to be moved.
 * `reclaim_expired.sql` writes the same of a batch whose worker was lost: change both together.
 */
export async function endClaim(
  client: PoolClient,
  batch: BatchInFlight,
  end: Disposition,
  details: ResponseDetails,
): Promise<void> {
  const resent = end.to === 'ready' && end.resent
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
  if (end.to === 'split') await client.query('select ferry.split_batch($1)', [batch.id])
  if (end.to === 'uncertain') {
    await client.query(
      `select ferry.carve_batch(id, $2) from ferry.import_batches where id = $1 and set_aside <> '{}'`,
      [batch.id, batch.uncertain],
    )
  }
}

/** Keeps the platform's answer as the reason of lines that may be rejected later. */
export async function keepReasons(
  client: PoolClient,
  batchId: bigint,
  lines: readonly bigint[],
  { errorCode, message, requestId }: ResponseDetails,
): Promise<void> {
  await client.query(
    `update ferry.import_batches set reasons = reasons || (
       select coalesce(jsonb_object_agg(line, $3::jsonb), '{}') from unnest($2::bigint[]) as line)
     where id = $1`,
    [batchId, lines, JSON.stringify({ code: errorCode, message, requestId })],
  )
}
