/** How a call to the platform ended, as the throttle records it. */
export type CallEnd = {
  /**
   * Whether the platform itself answered: then it has counted the call by now. Without an answer, or with the answer of
   * a gateway, the call counts until the arrival bound is over.
   */
  readonly answered: boolean
  /** Null if no answer came. */
  readonly httpStatus: number | null
  readonly errorCode: string | null
  readonly requestId: string | null
  /** Whether the platform refused the call because its limit was reached: the limit is closed for a while then. */
  readonly isOverLimit: boolean
  /** From `Retry-After`, in milliseconds, or null. */
  readonly retryAfterMs: number | null
}
