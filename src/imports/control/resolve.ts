import type { Pool } from 'pg'
import { inTransaction } from '#src/db/pool.ts'
import { lockForMove } from '#src/imports/move-import.ts'
import { lockPage } from '#src/imports/page.ts'
import { reclaimExpiredOfPage } from '#src/imports/sending/reclaim.ts'
import { endSetAside } from '#src/imports/sending/reject-rows.ts'
import { moveResolved } from '#src/imports/sending/remainder.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { moveOf } from '#src/model/import-moves.ts'
import { refusal } from './decide.ts'
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
  by: ActedBy,
  { batchId = null, doubt = null }: { readonly batchId?: bigint | null; readonly doubt?: string | null } = {},
): Promise<Resolved> {
  // In a transaction of its own: what it changes is to stay, even if there is nothing to decide.
  await reclaimExpiredOfPage(pool, id)
  return inTransaction(pool, async client => {
    await lockPage(client, id)
    const found = await lockForMove(client, id)
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
