import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { inTransaction } from '#src/db/pool.ts'
import { findAll, Int8 } from '#src/db/rows.ts'
import { lockForMove } from '#src/imports/move-import.ts'
import { lockPage } from '#src/imports/page.ts'
import { WORKER_LOST_CODE } from '#src/model/run.ts'
import type { ResponseDetails } from './pause.ts'
import { endSetAside } from './reject-rows.ts'
import { moveResolved } from './remainder.ts'

/** What is known for certain of a call of which the claim has ended without an outcome. */
export type LateOutcome =
  | { readonly kind: 'accepted' | 'refused'; readonly details: ResponseDetails }
  | { readonly kind: 'not sent' }

/**
 * Records an outcome that came after its claim had expired: its worker could not reach Postgres, or was suspended. The batch
 * has been uncertain since, and becomes what the outcome says, unless it was claimed again. Other imports of the page look again
 * at what was sent. May be repeated.
 */
export function persistLateOutcome(
  pool: Pool,
  importId: bigint,
  callId: bigint,
  late: LateOutcome,
): Promise<void> {
  const isAccepted = late.kind === 'accepted'
  const { httpStatus, errorCode, requestId, message } = late.kind === 'not sent' ? NO_ANSWER : late.details
  return inTransaction(pool, async client => {
    await lockPage(client, importId)
    const found = await lockForMove(client, importId) // before its batches, as a claim does
    const batches = await findAll(
      client,
      LateBatch,
      `update ferry.import_batches b set ${SET[late.kind]},
         http_status = $4, error_code = $5, request_id = $6, message = $7
       where b.import_id = $1 and b.call_id = $2 and b.error_code = $3 and b.state in ('uncertain', 'ready')
         and ($8 or b.uncertain)
       returning b.id, cardinality(b.set_aside) as set_aside, b.resends > 0 as was_uncertain`,
      [importId, callId, WORKER_LOST_CODE, httpStatus, errorCode, requestId, message, isAccepted],
    )
    if (batches.length === 0) return
    if (isAccepted) await recordAcceptance(client, importId, batches)
    if (late.kind === 'not sent') await releaseCall(client, importId, callId)
    await moveResolved(client, found, null)
  })
}

/** Removes a call that was not made, and returns its permit. The caller has locked the import. */
export async function releaseCall(client: PoolClient, importId: bigint, callId: bigint): Promise<void> {
  await client.query('select ferry_internal.release_call($1, $2)', [importId, callId])
}

const NO_ANSWER: ResponseDetails = { httpStatus: null, errorCode: null, requestId: null, message: null }

const LateBatch = z.object({ id: Int8, setAside: z.number(), wasUncertain: z.boolean() })

/** With a resend of an earlier call, that call is still uncertain. */
const READY = `state = 'ready', resends = resends - (b.state = 'ready')::int,
  uncertain = resends - (b.state = 'ready')::int > 0`

const SET: Readonly<Record<LateOutcome['kind'], string>> = {
  // A batch that was to be sent again, and was not, has not been resent.
  accepted: `state = 'sent', uncertain = false, sent_at = clock_timestamp(),
    resends = resends - (b.state = 'ready' and b.uncertain)::int`,
  refused: READY,
  'not sent': `${READY}, call_id = null`,
}

async function recordAcceptance(
  client: PoolClient,
  importId: bigint,
  batches: readonly z.infer<typeof LateBatch>[],
): Promise<void> {
  await client.query('update ferry.imports set accepted = accepted + 1 where id = $1', [importId])
  for (const { id, setAside, wasUncertain } of batches) {
    if (setAside > 0) await endSetAside(client, importId, id, wasUncertain)
  }
}
