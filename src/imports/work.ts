import type { ImportContext } from './context.ts'

/**
 * How a spell of work on an import ended.
 *
 *   completed, undecided, paused, cancelled   the import's own status
 *   yielded   another import waits for its turn
 *   busy      somebody else is at an import of this page
 *   waiting   an older import of this page goes first, or its account is not known here
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
  /** Aborted: nothing more is claimed, and calls in flight are waited for. */
  readonly signal: AbortSignal
  /** Aborted: calls in flight are cut off; their outcome is uncertain. */
  readonly cutOff?: AbortSignal
  readonly yieldAfterCalls?: number
}

/** Sends an import's batches under its lease until it ends, is paused, or `yieldAfterCalls` are spent while another import waits. */
export async function workImport(_ferry: ImportContext, id: bigint, _options: WorkOptions): Promise<WorkEnd> {
  throw new Error(`import ${id} cannot be worked on yet`)
}
