import { hash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { findAll, Int8 } from '#src/db/rows.ts'
import { RESOLVED_AS_SENT } from '#src/imports/sending/pause.ts'
import { IS_DECIDABLE, IS_UNCERTAIN } from '#src/imports/uncertain.ts'

/** What a person found out about a batch: the platform has it, or it is to be sent again. */
export type Resolution = 'sent' | 'resend'

/** In SQL, what a decision needs to know of batch `b`. */
const DECIDED = `b.id, b.from_line, b.to_line, b.rows, cardinality(b.set_aside) as set_aside, b.call_id as call`

const DecidedBatch = z.object({
  id: Int8,
  /** The lines of the file from its first row to its last. */
  fromLine: z.string(),
  toLine: z.string(),
  rows: z.number(),
  /** How many of its rows the platform had named as wrong. */
  setAside: z.number(),
  /** The call whose outcome is not known. */
  call: z.string().nullable(),
})

/** A batch that a decision was about. */
export type DecidedBatch = z.infer<typeof DecidedBatch>

/** Returns the uncertain batches of an import, or one of them if it is uncertain, as a decision would be about them. */
export function listDecidable(pool: Pool, id: bigint, batchId: bigint | null): Promise<DecidedBatch[]> {
  return findAll(
    pool,
    DecidedBatch,
    `select ${DECIDED} from ferry.import_batches b
     where b.state not in ('sent', 'split') and ${IS_DECIDABLE} and import_id = $1 and ($2::bigint is null or id = $2)`,
    [id, batchId],
  )
}

/** Names the doubt about these batches: another batch, or another call of one of them, gives another name. */
export function doubtAbout(batches: readonly DecidedBatch[]): string {
  const calls = batches.map(({ id, call }) => `${id} ${call}`).sort()
  return hash('sha256', calls.join('\n'), 'base64url')
}

/**
 * Records a resolution of the uncertain batches of an import, or of one of them; also about those that were to be sent
 * again without a decision. Returns them. A call that may still be in flight is nothing to decide about.
 *
 * Rows set aside of a batch that was sent are still to be rejected.
 */
export function decideBatches(
  client: PoolClient,
  id: bigint,
  as: Resolution,
  batchId: bigint | null,
): Promise<DecidedBatch[]> {
  return findAll(
    client,
    DecidedBatch,
    `update ferry.import_batches b set ${as === 'sent' ? SENT : RESEND}, message = coalesce($3::text, message)
     where ${IS_UNCERTAIN} and state <> 'in flight' and import_id = $1 and ($2::bigint is null or id = $2)
     returning ${DECIDED}`,
    [id, batchId, as === 'sent' ? RESOLVED_AS_SENT : null],
  )
}

/** `sent_at` is when the platform was called, if that is known. */
const SENT = `state = 'sent', uncertain = false,
  sent_at = coalesce(
    (select max(c.started) from ferry.platform_calls c where c.id = b.call_id), b.claimed_at, clock_timestamp())`

/** A batch decided about is not uncertain any more. It counts as resent: if it did arrive, it is sent twice. */
const RESEND = `state = case state when 'uncertain' then 'ready' else state end,
  resends = resends + (state = 'uncertain')::int, uncertain = false`
