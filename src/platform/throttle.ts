import type { Operation } from './operations.ts'

/**
 * What keeps Ferry under the platform's limits: every request needs a slot, and the slot is its row in the
 * call log. Implemented by the store, joined in `ferry.ts`; the platform room knows only this interface.
 */
export interface Throttle {
  /**
   * Waits until one more call of `operation` fits every window, and records it as started.
   * Rejects with the signal's reason once `signal` aborts; then no slot is held.
   */
  take(call: Call, signal: AbortSignal): Promise<Slot>

  /** Returns a slot whose request was certainly never sent: it no longer counts. */
  giveBack(slot: Slot): Promise<void>

  /** Records the end of a call. A 429 closes the operation to every worker for a while. */
  finish(slot: Slot, end: CallEnd): Promise<void>

  /** A slot older than this may not be sent any more (a worker that slept must not send late). */
  readonly slotGoodForMs: number

  /** A request whose body is not out after this long is aborted: `FERRY_ARRIVAL_BOUND`. */
  readonly arrivalBoundMs: number
}

export type Call = {
  readonly account: string
  readonly operation: Operation
  /** The sync run on whose behalf the call is made, or null (doctor). */
  readonly runId: bigint | null
}

export type Slot = {
  readonly callId: bigint
  readonly call: Call
  /** `performance.now()` before the slot was asked for: its age is never underestimated. */
  readonly askedAtMs: number
}

export type CallEnd = {
  /**
   * The platform itself answered, so it has counted the call by now. Silence and a gateway's page prove nothing:
   * such a call counts until the arrival bound is over.
   */
  readonly answered: boolean
  /** Null if no answer came. */
  readonly httpStatus: number | null
  readonly errorCode: string | null
  readonly requestId: string | null
  /** From `Retry-After`, in milliseconds, or null. */
  readonly retryAfterMs: number | null
}
