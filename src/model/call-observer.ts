/** Is told of the calls to the platform that this process makes, for metrics. It must not throw. */
export type CallObserver = {
  /** A call waited so long for its permit, or is still waiting after so long. */
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
