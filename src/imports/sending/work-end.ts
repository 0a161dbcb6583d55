import type { ImportStatus } from '#src/model/import.ts'

/**
 * How the work on an import ended.
 *
 *   completed, undecided, paused, cancelled   the import's own status
 *   yielded   another import waits for its turn
 *   busy      another worker processes an import of this page, or did and a call of it may still be in flight
 *   waiting   it is not confirmed, an older import of this page is sent first, or its account is not configured here
 *   stopped   the signal aborted
 */
export type WorkEnd =
  | 'completed'
  | 'undecided'
  | 'paused'
  | 'cancelled'
  | 'yielded'
  | 'busy'
  | 'waiting'
  | 'stopped'

export type WorkOptions = {
  /** Aborted: nothing more is claimed; the work ends with the calls in flight. */
  readonly signal: AbortSignal
  /** Aborted: calls in flight are cut off; their outcome is uncertain. */
  readonly cutOff?: AbortSignal
  readonly yieldAfterCalls?: number
}

/** How the work ends on an import of this status. */
export function endOf(status: ImportStatus): WorkEnd {
  switch (status) {
    case 'completed':
    case 'undecided':
    case 'paused':
    case 'cancelled':
      return status
    default:
      return 'waiting'
  }
}
