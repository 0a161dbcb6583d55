import type { ClosedLimit } from '#src/db/closed-limits.ts'
import type { Ferry } from '#src/ferry.ts'
import type { Operation } from '#src/platform/operations.ts'
import type { Call, Throttle } from '#src/platform/throttle.ts'

/** How long a call may wait for other calls under the same limit. */
const PERMIT_WITHIN_MS = 5_000

/** A call got no permit in time: the platform has closed the limit, or (`closed` is null) other calls use it. */
export class LimitNotFree extends Error {
  override readonly name = 'LimitNotFree'
  readonly account: string
  readonly operation: Operation
  readonly closed: ClosedLimit | null
  constructor({ account, operation }: Call, closed: ClosedLimit | null) {
    super(`the limit of ${operation} is not free`)
    this.account = account
    this.operation = operation
    this.closed = closed
  }
}

/** Returns Ferry's throttle, except that `acquirePermit` throws `LimitNotFree` instead of waiting for long. */
export function boundedThrottle({ throttle, findClosedLimit }: Ferry): Throttle {
  return {
    ...throttle,
    async acquirePermit(call, signal) {
      const closed = await findClosedLimit(call.account, call.operation)
      if (closed !== null) throw new LimitNotFree(call, closed)
      const timeUp = AbortSignal.timeout(PERMIT_WITHIN_MS)
      try {
        return await throttle.acquirePermit(call, AbortSignal.any([signal, timeUp]))
      } catch (error) {
        if (!timeUp.aborted || signal.aborted) throw error
        throw new LimitNotFree(call, await findClosedLimit(call.account, call.operation))
      }
    },
  }
}
