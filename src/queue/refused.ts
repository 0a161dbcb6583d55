/** The queue cannot be used as it is; the message says what to do. */
export class QueueRefused extends Error {
  override readonly name = 'QueueRefused'
  /** Whether waiting may help: the server does not answer, or not yet. */
  readonly mayPass: boolean
  constructor(message: string, options: { mayPass?: boolean; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.mayPass = options.mayPass ?? false
  }
}

/** The queue is in Postgres, and its tables were not made yet. It has the name of any other refusal. */
export class QueueHasNoTables extends QueueRefused {}
