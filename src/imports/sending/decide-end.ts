import type { ImportStatus } from '#src/model/import.ts'

/** What is left of an import of which nothing could be claimed. */
export type Remainder = {
  readonly status: ImportStatus
  /** Until the first claim in flight expires; null if no call is in flight. */
  readonly inFlightMs: number | null
  readonly hasReadyBatch: boolean
  /** Rows that were refused alone. */
  readonly suspects: number
  /** Rows in batches that are held for a person. */
  readonly heldRows: number
  /** Whether there are rows that are in no batch yet. */
  readonly hasMoreRows: boolean
  /** How many rows were to be sent first; null if all are to be sent. */
  readonly firstRows: number | null
}

/**
 * What to do with such an import.
 *
 *   ended      it is not running any more
 *   wait       a call may come back and change everything
 *   claim      there is something to claim after all
 *   suspects   decide about the rows refused alone: nothing else is left
 *   pause      the first rows have been sent
 */
export type EndDecision =
  | { readonly to: 'ended' | 'claim' | 'suspects' | 'undecided' | 'completed' }
  | { readonly to: 'pause'; readonly firstRows: number }
  | { readonly to: 'wait'; readonly waitMs: number }

export function decideEnd(remainder: Remainder): EndDecision {
  const { status, inFlightMs, hasReadyBatch, suspects, heldRows, hasMoreRows, firstRows } = remainder
  if (status !== 'running') return { to: 'ended' }
  if (inFlightMs !== null) return { to: 'wait', waitMs: inFlightMs }
  if (hasReadyBatch) return { to: 'claim' }
  if (suspects > 0) return { to: 'suspects' }
  if (hasMoreRows) return firstRows === null ? { to: 'claim' } : { to: 'pause', firstRows }
  return { to: heldRows > 0 ? 'undecided' : 'completed' }
}
