import type { PoolClient } from 'pg'
import { fenceWithLease } from '#src/db/leases.ts'
import { inTransaction } from '#src/db/pool.ts'
import { lockForMove, moveImport } from '#src/imports/move-import.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { moveOf } from '#src/model/import-moves.ts'
import type { ClaimContext } from './claims.ts'
import { decideSuspects } from './decide.ts'
import { lockImport } from './import-state.ts'
import { firstRowsSent } from './pause.ts'
import { persistDecision } from './persist-outcome.ts'
import { leftOf, loadRemainder, type Remainder } from './remainder.ts'
import { loadSuspectDetails, noteAsked, retrySuspectsAmongSent } from './suspects.ts'

/**
 * The next step of an import of which nothing could be claimed.
 *
 *   ended       it is not running any more
 *   wait        a call may come back and change everything
 *   claim       there is something to claim after all
 *   suspects    decide about the rows refused alone: nothing else is left
 *   exhausted   nothing may be claimed any more; rows are left if only the first ones were to be sent
 */
export type EndDecision =
  | { readonly to: 'ended' | 'claim' | 'suspects' }
  | { readonly to: 'wait'; readonly waitMs: number }
  | { readonly to: 'exhausted'; readonly left: 'uncertain' | 'nothing' }
  | { readonly to: 'exhausted'; readonly left: 'rows'; readonly firstRows: number }

/** `firstRows`: how many rows are to be sent first; null if all are to be sent. */
export function decideEnd(status: ImportStatus, firstRows: number | null, remainder: Remainder): EndDecision {
  const { inFlightMs, hasReadyBatch, suspects } = remainder
  const left = leftOf(remainder)
  if ('refused' in moveOf('exhaust', { status, left })) return { to: 'ended' }
  if (inFlightMs !== null) return { to: 'wait', waitMs: inFlightMs }
  if (hasReadyBatch) return { to: 'claim' }
  if (suspects > 0) return { to: 'suspects' }
  if (left !== 'rows') return { to: 'exhausted', left }
  return firstRows === null ? { to: 'claim' } : { to: 'exhausted', left, firstRows }
}

/** The import has ended or stopped, or it is to be asked again after a while. */
export type EndResult =
  | { readonly what: 'ended'; readonly status: ImportStatus }
  | { readonly what: 'wait'; readonly waitMs: number }

/**
 * Decides about an import of which nothing could be claimed, and writes the result: all in one transaction that holds
 * the lease and the lock of the import, since a call may have come back after the claim was refused. Throws `LeaseLost`.
 */
export function endImport({ pool, importId, lease }: ClaimContext): Promise<EndResult> {
  return inTransaction<EndResult>(pool, async client => {
    await fenceWithLease(client, lease)
    const found = await lockForMove(client, importId)
    const remainder = await loadRemainder(client, importId)
    const decision = decideEnd(found.status, found.first_rows, remainder)
    switch (decision.to) {
      case 'ended':
        return { what: 'ended', status: found.status }
      case 'wait':
        return { what: 'wait', waitMs: decision.waitMs }
      case 'claim':
        return { what: 'wait', waitMs: 0 }
      case 'suspects':
        await persistSuspects(client, importId)
        return { what: 'wait', waitMs: 0 }
      case 'exhausted': {
        const { status } = await moveImport(client, found, {
          event: 'exhaust',
          ...(decision.left === 'rows'
            ? {
                left: 'rows',
                pause: firstRowsSent(importId, {
                  firstRows: decision.firstRows,
                  heldRows: remainder.heldRows,
                  rejected: found.rejected_by_platform,
                }),
              }
            : { left: decision.left }),
        })
        return { what: 'ended', status }
      }
    }
  })
}

/** Has the suspects sent once more, or pauses the import for them; see `decideSuspects`. */
async function persistSuspects(client: PoolClient, importId: bigint): Promise<void> {
  const state = await lockImport(client, importId)
  const decision = decideSuspects(state, await retrySuspectsAmongSent(client, importId))
  if (!decision.pause) return
  await noteAsked(client, importId)
  const details = await loadSuspectDetails(client, importId)
  await persistDecision(client, importId, decision, details, state.rejected)
}
