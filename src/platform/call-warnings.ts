import type { Logger } from 'pino'
import type { Operation } from '#src/model/call.ts'
import { PERMIT_SHARE_PERCENT } from '#src/model/limit.ts'

const EXPIRED_BEFORE_WARNING = 10
const WARN_OF_WAITING_EVERY_MS = 60_000

/** Warns when calls wait so long that the client seems to do nothing. */
export class CallWarnings {
  readonly #log: Logger
  readonly #account: string
  readonly #permitGoodForMs: number
  #expiredInARow = 0
  #warnedAtMs = Number.NEGATIVE_INFINITY

  constructor(log: Logger, account: string, permitGoodForMs: number) {
    this.#log = log
    this.#account = account
    this.#permitGoodForMs = permitGoodForMs
  }

  /** A permit expired before a request could be sent with it. Every tenth in a row is reported. */
  permitExpired(operation: Operation): void {
    this.#expiredInARow += 1
    if (this.#expiredInARow % EXPIRED_BEFORE_WARNING !== 0) return
    this.#log.warn(
      { account: this.#account, operation, expiredInARow: this.#expiredInARow },
      `${this.#expiredInARow} permits in a row expired before a request could be sent with them, so nothing is sent. ` +
        `A permit is good for ${this.#permitGoodForMs} ms, ${PERMIT_SHARE_PERCENT} % of FERRY_ARRIVAL_BOUND. ` +
        'Give this machine and the database less to do, or raise FERRY_ARRIVAL_BOUND.',
    )
  }

  requestSent(): void {
    this.#expiredInARow = 0
  }

  /** A listing waits for as long as the platform answers 429. Reported once a minute at most. */
  tooFrequent(operation: Operation, message: string): void {
    const nowMs = performance.now()
    if (nowMs - this.#warnedAtMs < WARN_OF_WAITING_EVERY_MS) return
    this.#warnedAtMs = nowMs
    this.#log.warn(
      { account: this.#account, operation },
      `${message} Waiting until the limit lets calls through again.`,
    )
  }
}
