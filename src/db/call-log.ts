import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { CallEnd } from '#src/model/call-end.ts'
import { type Limit, MAX_RETRY_AFTER_MS, PERMIT_SHARE_PERCENT, POLL_SOON_MS } from '#src/model/limit.ts'
import { type ClosedLimit, findClosedLimit } from './closed-limits.ts'
import { retryTransient } from './retry.ts'
import { onlyRow } from './rows.ts'

export type ThrottleOptions<Operation extends string> = {
  limitOf(account: string, operation: Operation): Limit
  readonly arrivalBoundMs: number
  /** Called once for each limit that the platform has closed and a call waits for, until the platform answers again. */
  onClosed?(call: Call<Operation>, closed: ClosedLimit): void
}

type Call<Operation extends string> = {
  readonly account: string
  readonly operation: Operation
  readonly runId: bigint | null
}

type Permit<Operation extends string> = {
  readonly callId: bigint
  readonly call: Call<Operation>
  readonly askedAtMs: number
}

/** For how long each refusal of a limit closes it, one strike after another; from the last one on, for as long. */
const BACK_OFF_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]

/** A wait for a closed limit that is longer than this is reported. */
const LONG_WAIT_MS = 3_000

/** However long the wait, the log is asked again after this: the operation may be open again by then. */
const MAX_WAIT_MS = 60_000

/**
 * Opens the throttle over the call log, exact across all processes of one database. It implements the `Throttle` of
 * the platform room; the two rooms are joined in `ferry.ts` only.
 *
 * `ferry.acquire_permit` counts and records under the lock of one row; this module only waits. The callers of one process
 * queue up, first come first served, so that fifty waiting pages ask the database once, not fifty times.
 * A permit is good for `PERMIT_SHARE_PERCENT` of the arrival bound after it was asked for. A worker that uses it later has
 * slept, and its call would reach the platform later than the log assumes.
 */
export function createThrottle<Operation extends string>(pool: Pool, options: ThrottleOptions<Operation>) {
  const queues = new Map<string, Promise<unknown>>()
  const reportedClosed = new Set<string>()

  function queueKeyOf(call: Call<Operation>): string {
    return `${options.limitOf(call.account, call.operation).limitKey} ${call.operation}`
  }

  async function reportIfClosed(call: Call<Operation>, limit: Limit): Promise<void> {
    if (!options.onClosed || reportedClosed.has(queueKeyOf(call))) return
    const closed = await findClosedLimit(pool, limit.limitKey, call.operation)
    if (closed === null) return
    reportedClosed.add(queueKeyOf(call))
    options.onClosed(call, closed)
  }

  async function acquireInTurn(call: Call<Operation>, limit: Limit, signal: AbortSignal) {
    for (;;) {
      signal.throwIfAborted()
      const askedAtMs = performance.now()
      // Repeated after a lost answer, it may take a second permit that nobody uses: fewer calls then, never more.
      const answer = await retryTransient(() => tryPermit(pool, call, limit, options.arrivalBoundMs), {
        signal,
      })
      if (answer.callId !== null) {
        const permit = { callId: answer.callId, call, askedAtMs }
        if (!signal.aborted) return permit
        await returnPermit(permit)
        continue
      }
      // A report that fails must not fail the call.
      if (answer.waitMs > LONG_WAIT_MS) await reportIfClosed(call, limit).catch(() => {})
      const maxMs = answer.pollSoon ? POLL_SOON_MS : MAX_WAIT_MS
      await delay(Math.min(answer.waitMs, maxMs), undefined, { signal })
    }
  }

  async function returnPermit(permit: Permit<Operation>): Promise<void> {
    await pool.query('delete from ferry.platform_calls where id = $1', [permit.callId])
  }

  return {
    arrivalBoundMs: options.arrivalBoundMs,
    permitGoodForMs: (options.arrivalBoundMs * PERMIT_SHARE_PERCENT) / 100,

    acquirePermit(call: Call<Operation>, signal: AbortSignal): Promise<Permit<Operation>> {
      const limit = options.limitOf(call.account, call.operation)
      const key = queueKeyOf(call)
      const ahead = queues.get(key) ?? Promise.resolve()
      const permit = ahead.then(() => acquireInTurn(call, limit, signal))
      queues.set(
        key,
        permit.catch(() => {}),
      )
      return untilAborted(permit, signal)
    },

    returnPermit,

    finishCall(permit: Permit<Operation>, end: CallEnd): Promise<void> {
      if (end.httpStatus !== null && !end.isOverLimit) reportedClosed.delete(queueKeyOf(permit.call))
      return recordCallEnd(pool, permit.callId, end)
    },
  }
}

/** Records the end of a call. A refusal because of the limit closes the operation to every worker for a while. */
export async function recordCallEnd(client: Pool | PoolClient, callId: bigint, end: CallEnd): Promise<void> {
  await client.query('select ferry.finish_call($1, $2, $3, $4, $5, $6, $7, $8)', [
    callId,
    end.answered,
    end.httpStatus,
    end.errorCode,
    end.requestId,
    end.isOverLimit,
    end.retryAfterMs === null ? null : Math.min(end.retryAfterMs, MAX_RETRY_AFTER_MS),
    BACK_OFF_MS,
  ])
}

/** Settles as `promise` does, or rejects as soon as `signal` aborts: a caller that gives up need not queue any longer. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort))
}

/** A row of `ferry.acquire_permit`: the id of the call that was recorded, or how long to wait. */
const PermitAnswer = z.union([
  z.object({ callId: z.string().transform(BigInt) }),
  z.object({ callId: z.null(), waitMs: z.number(), pollSoon: z.boolean() }),
])
type PermitAnswer = Readonly<z.infer<typeof PermitAnswer>>

async function tryPermit(
  pool: Pool,
  call: Call<string>,
  limit: Limit,
  boundMs: number,
): Promise<PermitAnswer> {
  const { rows } = await pool.query(
    `select call_id as "callId", wait_ms as "waitMs", poll_soon as "pollSoon"
     from ferry.acquire_permit($1, $2, $3, $4, $5, $6, $7)`,
    [
      limit.limitKey,
      call.operation,
      call.account,
      call.runId,
      limit.windows.map(window => window.maxCalls),
      limit.windows.map(window => window.windowMs),
      boundMs,
    ],
  )
  return PermitAnswer.parse(onlyRow(rows, 'ferry.acquire_permit'))
}
