import type { ClosedLimit } from '#src/db/closed-limits.ts'
import type { Ferry } from '#src/ferry.ts'
import type { Operation } from '#src/platform/operations.ts'
import type { Call, Throttle } from '#src/platform/throttle.ts'

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

/**
 * Returns Ferry's throttle, except that `acquirePermit` throws `LimitNotFree` instead of waiting for a limit that is closed,
 * or for longer than `timeUp`.
 */
export function boundedThrottle({ throttle, findClosedLimit }: Ferry, timeUp: AbortSignal): Throttle {
  return {
    ...throttle,
    async acquirePermit(call, signal) {
      const closed = await findClosedLimit(call.account, call.operation)
      if (closed !== null) throw new LimitNotFree(call, closed)
      try {
        return await throttle.acquirePermit(call, signal)
      } catch (error) {
        if (!timeUp.aborted) throw error
        throw new LimitNotFree(call, await findClosedLimit(call.account, call.operation))
      }
    },
  }
}
