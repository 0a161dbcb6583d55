/** How a call to the platform ended, as the throttle records it. */
export type CallEnd = {
  /**
   * When the platform itself had answered, by `performance.now()` of this process: it had counted the call by then. Null
   * without an answer, or with the answer of a gateway: the call counts until the arrival bound is over.
   */
  readonly answeredAtMs: number | null
  /** Null if no answer came. */
  readonly httpStatus: number | null
  readonly errorCode: string | null
  readonly requestId: string | null
  /** Whether the platform refused the call because its limit was reached: the limit is closed for a while then. */
  readonly isOverLimit: boolean
  /** From `Retry-After`, in milliseconds, or null. */
  readonly retryAfterMs: number | null
}
