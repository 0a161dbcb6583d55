import type { Call, CallEnd, Permit } from '#src/model/call.ts'

/**
 * Keeps Ferry under the platform's limits. Every request needs a permit; a permit is a row of the call log.
 *
 * `src/db/call-log.ts` implements it and `ferry.ts` passes it in; the platform room knows only this interface.
 */
export interface Throttle {
  /**
   * Waits until one more call of `operation` fits every window, and records it as started.
   * Rejects with the signal's reason once `signal` aborts; no permit is held then.
   */
  acquirePermit(call: Call, signal: AbortSignal): Promise<Permit>

  /** Returns a permit with which certainly nothing was sent, so that it no longer counts. */
  returnPermit(permit: Permit): Promise<void>

  /** Records the end of a call. A 429 closes the operation to every worker for a while. */
  finishCall(permit: Permit, end: CallEnd): Promise<void>

  /** A permit older than this has expired: a request sent with it could arrive later than the call log assumes. */
  readonly permitGoodForMs: number

  /** A request whose body is not written after this long is aborted: `FERRY_ARRIVAL_BOUND`. */
  readonly arrivalBoundMs: number
}
