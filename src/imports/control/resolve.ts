import { hash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { inTransaction } from '#src/db/pool.ts'
import { findAll, Int8 } from '#src/db/rows.ts'
import { lockAsSeen } from '#src/imports/move-import.ts'
import { lockPage } from '#src/imports/page.ts'
import { reclaimExpiredOfPage } from '#src/imports/sending/reclaim.ts'
import { endSetAside } from '#src/imports/sending/reject-rows.ts'
import { moveResolved } from '#src/imports/sending/remainder.ts'
import { CALLS_OF_SOURCES, IS_DECIDABLE, IS_UNCERTAIN, RESOLVED_AS_SENT } from '#src/imports/states.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { moveOf } from '#src/model/import-moves.ts'
import { refusal } from './decide.ts'

/** How many batches and rows were decided about, and the status of the import after it. */
export type Resolved = { readonly batches: number; readonly rows: number; readonly status: ImportStatus }

/**
 * Records what a person found out about uncertain batches, one or all: they were sent, or they are to be sent again. Rows
 * of a cancelled import that are to be sent again are sent by the next import of the same recipients. If `doubt` is given,
 * the decision is refused unless it is about just that (see `doubtAbout`): somebody looked at these batches only. So is it if the
 * import is not any more as it was `seen`.
 */
export async function resolveUncertain(
  pool: Pool,
  id: bigint,
  as: Resolution,
  by: ActedBy,
  {
    batchId = null,
    doubt = null,
    seen,
  }: { readonly batchId?: bigint | null; readonly doubt?: string | null; readonly seen?: string } = {},
): Promise<Resolved> {
  // In a transaction of its own: what it changes is to stay, even if there is nothing to decide.
  await reclaimExpiredOfPage(pool, id)
  return inTransaction(pool, async client => {
    await lockPage(client, id)
    const found = await lockAsSeen(client, id, seen)
    const allowed = moveOf('resolve', found)
    if ('refused' in allowed) throw refusal(found, allowed.refused)
    const decided = await decideBatches(client, id, as, batchId)
    if (decided.length === 0) {
      const which = batchId === null ? 'it has no uncertain batch' : `its batch ${batchId} is not uncertain`
      throw refusal(found, `${which}; \`ferry imports show ${id}\` shows its batches`)
    }
    if (doubt !== null && doubt !== doubtAbout(decided)) {
      throw refusal(found, 'the uncertain batches have changed since you looked at them')
    }
    const withSetAside = as === 'sent' ? decided.filter(batch => batch.setAside > 0) : []
    for (const batch of withSetAside) await endSetAside(client, id, batch.id, false)
    const rows = sum(decided.map(batch => batch.rows)) - sum(withSetAside.map(batch => batch.setAside))
    const { status } = await moveResolved(client, found, by)
    return { batches: decided.length, rows, status }
  })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** A person's decision about a batch: the platform has it, or it must be sent again. */
export type Resolution = 'sent' | 'resend'

/**
 * In SQL, the call that batch `b` was in last. It is none of its own if it was divided since, or claimed again and given back unsent.
 */
const LAST_CALL = `coalesce(b.call_id, (select max(c.id) from ${CALLS_OF_SOURCES}))`

/** In SQL, what a decision needs to know of batch `b`. */
const DECIDED = `b.id, b.from_line, b.to_line, b.rows, cardinality(b.set_aside) as set_aside, ${LAST_CALL} as call`

const DecidedBatch = z.object({
  id: Int8,
  /** The lines of the file from its first row to its last. */
  fromLine: z.string(),
  toLine: z.string(),
  rows: z.number(),
  /** How many of its rows the platform had named as wrong. */
  setAside: z.number(),
  /** The last call that it was in. */
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

/** `sent_at` is when the platform was called, if that is known. By the call, others know whether it was sent before or after theirs. */
const SENT = `state = 'sent', uncertain = false, call_id = ${LAST_CALL},
  sent_at = coalesce(
    (select max(c.started) from ferry.platform_calls c where c.id = ${LAST_CALL}), b.claimed_at, clock_timestamp())`

/** A batch decided about is not uncertain any more. It counts as resent: if it did arrive, it is sent twice. */
const RESEND = `state = case state when 'uncertain' then 'ready' else state end,
  resends = resends + (state = 'uncertain')::int, uncertain = false`
