import type { Pool } from 'pg'
import { inTransaction } from '#src/db/pool.ts'
import { continueOrEnd } from '#src/imports/sending/continue-or-end.ts'
import { lockPage } from '#src/imports/sending/lock-page.ts'
import { reclaimExpiredOfPage } from '#src/imports/sending/reclaim.ts'
import { endSetAside } from '#src/imports/sending/set-aside.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { lockForDecision, recordDecision, refusal } from './decision.ts'
import { decideBatches, doubtAbout, type Resolution } from './uncertain-batches.ts'

/** What was decided, and the status of the import after it. */
export type Resolved = { readonly batches: number; readonly rows: number; readonly status: ImportStatus }

/**
 * Records what a person found out about uncertain batches, one or all: they were sent, or they are to be sent again. Rows
 * of a cancelled import that are to be sent again are sent by the next import of the same recipients. If `doubt` is given,
 * the decision is refused unless it is about just that (see `doubtAbout`): somebody looked at these batches only.
 */
export async function resolveUncertain(
  pool: Pool,
  id: bigint,
  as: Resolution,
  batchId: bigint | null,
  by: ActedBy,
  doubt: string | null = null,
): Promise<Resolved> {
  // In a transaction of its own: what it changes is to stay, even if there is nothing to decide.
  await reclaimExpiredOfPage(pool, id)
  return inTransaction(pool, async client => {
    await lockPage(client, id)
    const state = await lockForDecision(client, id)
    const { status } = state
    if (status === 'completed') {
      throw refusal(
        id,
        status,
        'it has no uncertain batch; if another import was paused because of it, resume that one',
      )
    }
    const decided = await decideBatches(client, id, as, batchId)
    if (decided.length === 0) {
      const which = batchId === null ? 'it has no uncertain batch' : `its batch ${batchId} is not uncertain`
      throw refusal(id, status, `${which}; \`ferry imports show ${id}\` shows its batches`)
    }
    if (doubt !== null && doubt !== doubtAbout(decided)) {
      throw refusal(id, status, 'other batches are uncertain now than those that were looked at')
    }
    const withSetAside = as === 'sent' ? decided.filter(batch => batch.setAside > 0) : []
    for (const batch of withSetAside) await endSetAside(client, id, batch.id, false)
    await recordDecision(client, id, state, 'resolve', by)
    const rows = sum(decided.map(batch => batch.rows)) - sum(withSetAside.map(batch => batch.setAside))
    return { batches: decided.length, rows, status: await continueOrEnd(client, id) }
  })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
