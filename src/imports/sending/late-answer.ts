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

/** A definite answer to a call of which the claim has ended without one. */
export type LateAnswer = {
  readonly callId: bigint
  readonly isAccepted: boolean
  readonly details: ResponseDetails
}

/**
 * Records an answer that came after its claim had expired: its worker could not reach Postgres, or was suspended. The batch
 * has been uncertain since, and becomes what the answer says, unless it was claimed again. Other imports of the page look again
 * at what was sent. May be repeated.
 */
export function persistLateAnswer(pool: Pool, importId: bigint, late: LateAnswer): Promise<void> {
  return inTransaction(pool, async client => {
    await lockPage(client, importId)
    const batches = await findAll(
      client,
      LateBatch,
      `update ferry.import_batches b set ${late.isAccepted ? SENT : REFUSED},
         http_status = $4, error_code = $5, request_id = $6, message = $7
       where b.import_id = $1 and b.call_id = $2 and b.error_code = $3 and b.state in ('uncertain', 'ready')
         and ($8 or b.uncertain)
       returning b.id, cardinality(b.set_aside) as set_aside, b.resends > 0 as was_uncertain`,
      [importId, late.callId, WORKER_LOST_CODE, ...valuesOf(late.details), late.isAccepted],
    )
    if (batches.length === 0) return
    if (late.isAccepted) await recordAcceptance(client, importId, batches)
    await moveResolved(client, await lockForMove(client, importId), null)
  })
}

const LateBatch = z.object({ id: Int8, setAside: z.number(), wasUncertain: z.boolean() })

/** A batch that was to be sent again, and was not, has not been resent. */
const SENT = `state = 'sent', uncertain = false, sent_at = clock_timestamp(),
  resends = resends - (b.state = 'ready' and b.uncertain)::int`

/** With a resend of an earlier call, that call is still uncertain. */
const REFUSED = `state = 'ready', resends = resends - (b.state = 'ready')::int,
  uncertain = resends - (b.state = 'ready')::int > 0`

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

function valuesOf({ httpStatus, errorCode, requestId, message }: ResponseDetails) {
  return [httpStatus, errorCode, requestId, message]
}
