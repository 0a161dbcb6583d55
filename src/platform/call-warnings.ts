import type { Logger } from 'pino'
import { PERMIT_SHARE_PERCENT } from '#src/model/limit.ts'
import type { Operation } from './operations.ts'

const EXPIRED_BEFORE_WARNING = 10
const WARN_OF_WAITING_EVERY_MS = 60_000

/** Warns of what would otherwise look like a client that does nothing. */
export type CallWarnings = {
  /** A permit expired before a request could be sent with it. Every tenth in a row is reported. */
  permitExpired(operation: Operation): void
  requestSent(): void
  /** A listing waits for as long as the platform answers 429. Reported once a minute at most. */
  tooFrequent(operation: Operation, message: string): void
}

export function openCallWarnings(log: Logger, account: string, permitGoodForMs: number): CallWarnings {
  let expiredInARow = 0
  let warnedAtMs = Number.NEGATIVE_INFINITY

  return {
    permitExpired(operation) {
      expiredInARow += 1
      if (expiredInARow % EXPIRED_BEFORE_WARNING !== 0) return
      log.warn(
        { account, operation, expiredInARow },
        `${expiredInARow} permits in a row expired before a request could be sent with them, so nothing is sent. ` +
          `A permit is good for ${permitGoodForMs} ms, ${PERMIT_SHARE_PERCENT} % of FERRY_ARRIVAL_BOUND. ` +
          'Give this machine and the database less to do, or raise FERRY_ARRIVAL_BOUND.',
      )
    },
    requestSent() {
      expiredInARow = 0
    },
    tooFrequent(operation, message) {
      const nowMs = performance.now()
      if (nowMs - warnedAtMs < WARN_OF_WAITING_EVERY_MS) return
      warnedAtMs = nowMs
      log.warn({ account, operation }, `${message} Waiting until the limit lets calls through again.`)
    },
  }
}
