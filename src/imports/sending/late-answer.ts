import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '#src/db/pool.ts'
import { WORKER_LOST_CODE } from '#src/model/worker-lost.ts'
import { continueOrEnd } from './continue-or-end.ts'
import { lockPage } from './lock-page.ts'
import type { ResponseDetails } from './pause.ts'
import { endSetAside } from './set-aside.ts'

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
    const { rows } = await client.query<LateBatch>(
      `update ferry.import_batches b set ${late.isAccepted ? SENT : REFUSED},
         http_status = $4, error_code = $5, request_id = $6, message = $7
       where b.import_id = $1 and b.call_id = $2 and b.error_code = $3 and b.state in ('uncertain', 'ready')
         and ($8 or b.uncertain)
       returning b.id, cardinality(b.set_aside) as "setAside", b.resends > 0 as "wasUncertain"`,
      [importId, late.callId, WORKER_LOST_CODE, ...valuesOf(late.details), late.isAccepted],
    )
    if (rows.length === 0) return
    if (late.isAccepted) await recordAcceptance(client, importId, rows)
    await continueOrEnd(client, importId)
  })
}

type LateBatch = { readonly id: string; readonly setAside: number; readonly wasUncertain: boolean }

/** A batch that was to be sent again, and was not, has not been resent. */
const SENT = `state = 'sent', uncertain = false, sent_at = clock_timestamp(),
  resends = resends - (b.state = 'ready' and b.uncertain)::int`

/** With a resend of an earlier call, that call is still uncertain. */
const REFUSED = `state = 'ready', resends = resends - (b.state = 'ready')::int,
  uncertain = resends - (b.state = 'ready')::int > 0`

async function recordAcceptance(
  client: PoolClient,
  importId: bigint,
  batches: readonly LateBatch[],
): Promise<void> {
  await client.query('update ferry.imports set accepted = accepted + 1 where id = $1', [importId])
  for (const { id, setAside, wasUncertain } of batches) {
    if (setAside > 0) await endSetAside(client, importId, BigInt(id), wasUncertain)
  }
}

function valuesOf({ httpStatus, errorCode, requestId, message }: ResponseDetails) {
  return [httpStatus, errorCode, requestId, message]
}
