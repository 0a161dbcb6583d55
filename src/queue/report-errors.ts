import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { isTransient } from '#src/model/transient-error.ts'
import type { ErrorSource } from './kind.ts'
import type { Outage } from './outage.ts'
import { adviceOnReply } from './redis-replies.ts'

/** The same error again within this time is logged at `debug`. */
const SAME_ERROR_MS = 600_000

/** What Redis answers to whoever waits for a job while it is made a replica. */
const TURNED_REPLICA = /^UNBLOCKED/

/** A job whose lock expired was given to another worker, which finds its work taken or done. */
const LOCK_LOST = /\block for job\b|Missing (lock|key) for job/i

/** Logs the errors of a queue or a worker of BullMQ, which would end the process if nobody listened. Returns it. */
export function reportErrors<T extends ErrorSource>(source: T, what: string, outage: Outage, log: Logger): T {
  let last = { reason: '', atMs: Number.NEGATIVE_INFINITY }
  source.on('error', error => {
    const reason = reasonOf(error)
    if (isTransient(error) || adviceOnReply(reason) || TURNED_REPLICA.test(reason))
      return outage.begins(what, error)
    const isNews = !LOCK_LOST.test(reason) && !outage.lasts(what)
    const again = reason === last.reason && performance.now() - last.atMs < SAME_ERROR_MS
    log[isNews && !again ? 'warn' : 'debug']({ what, error: reason }, 'The queue reports an error.')
    last = { reason, atMs: performance.now() }
  })
  return source
}
