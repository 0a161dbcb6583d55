/** The queue cannot be used as it is; the message says what to do. */
export class QueueRefused extends Error {
  override readonly name = 'QueueRefused'
  /** Whether waiting may help: nobody answered, or not yet. */
  readonly mayPass: boolean
  constructor(message: string, options: { mayPass?: boolean; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.mayPass = options.mayPass ?? false
  }
}

/** The queue lives in Postgres, and was not made there yet. Under the same name as any other refusal. */
export class QueueHasNoTables extends QueueRefused {}
