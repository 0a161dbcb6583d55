import type { Moment } from './moment.ts'

/** The operations of the platform that Ferry calls. */
export type Operation = 'list-alert-rules' | 'import-subscribers' | 'list-mcp-servers'

/** A call that needs a permit. */
export type Call = {
  readonly account: string
  readonly operation: Operation
  /** The sync run on whose behalf the call is made, or null (doctor). */
  readonly runId: bigint | null
}

/** The right to make a call, as the throttle has recorded it. */
export type Permit = {
  readonly callId: bigint
  readonly call: Call
  /** Before the permit was asked for: its age is never underestimated. */
  readonly askedAt: Moment
}

/** Called with the calls to the platform that this process makes, for metrics. It must not throw. */
export type CallObserver = {
  /** Called when a call has its permit, and while it waits for one: `ms` is how long it has waited. */
  waited(account: string, operation: string, ms: number): void
  ended(call: EndedCall): void
}

export type EndedCall = {
  readonly account: string
  readonly operation: string
  /** Null if no answer came. */
  readonly httpStatus: number | null
  /** Null if the call was accepted. */
  readonly errorCode: string | null
  /** From the moment at which the call was begun until its answer was read. */
  readonly ms: number
}

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
