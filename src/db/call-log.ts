import type { Pool, PoolClient } from 'pg'
import type { CallEnd } from '#src/model/call.ts'
import { type Limit, MAX_RETRY_AFTER_MS, PERMIT_SHARE_PERCENT, POLL_SOON_MS } from '#src/model/limit.ts'
import { type Moment, momentNow } from '#src/model/moment.ts'
import { acquirePermits, type Call } from './acquire-permits.ts'
import { gather } from './gather.ts'
import { type ClosedLimit, findClosedLimit } from './limits.ts'
import { openPermitQueue } from './permit-queue.ts'
import { retryTransient } from './retry.ts'

export type ThrottleOptions<Operation extends string> = {
  limitOf(account: string, operation: Operation): Limit
  readonly arrivalBoundMs: number
  /** Called once for each limit that the platform has closed and a call waits for, until the platform answers again. */
  onClosed?(call: Call<Operation>, closed: ClosedLimit): void
}

type Permit<Operation extends string> = {
  readonly callId: bigint
  readonly call: Call<Operation>
  readonly askedAt: Moment
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
 * `ferry_internal.acquire_permit` counts and records under the lock of one row; this module only waits. The callers of one process
 * queue up and ask together, and the ends of their calls are recorded together: fifty pages that are sent and answered
 * within a moment cost a few round trips to the database, not a hundred.
 * A permit is good for `PERMIT_SHARE_PERCENT` of the arrival bound after it was asked for. A worker that uses it later has
 * slept, and its call would reach the platform later than the log assumes.
 */
export function createThrottle<Operation extends string>(pool: Pool, options: ThrottleOptions<Operation>) {
  /** One for each limit and operation. */
  const queues = new Map<string, ReturnType<typeof openQueue>>()
  const reportedClosed = new Set<string>()

  function queueKeyOf(call: Call<Operation>): string {
    return `${options.limitOf(call.account, call.operation).limitKey} ${call.operation}`
  }

  function queueOf(call: Call<Operation>): ReturnType<typeof openQueue> {
    const key = queueKeyOf(call)
    const queue = queues.get(key) ?? openQueue(options.limitOf(call.account, call.operation), call.operation)
    queues.set(key, queue)
    return queue
  }

  function openQueue(limit: Limit, operation: Operation) {
    const acquire = openPermitQueue<Call<Operation>, Permit<Operation>>({
      async acquirePermits(calls, signal) {
        const askedAt = momentNow()
        // Repeated after a lost answer, it may acquire permits that nobody uses: fewer calls then, never more.
        const { acquired, wait } = await retryTransient(
          () => acquirePermits(pool, limit, operation, calls, options.arrivalBoundMs),
          { signal },
        )
        const permits = acquired.map(permit => ({ ...permit, askedAt }))
        if (wait === null) return { permits, waitMs: 0 }
        const next = calls[permits.length]
        // A report that fails must not fail the call.
        if (next && wait.ms > LONG_WAIT_MS) await reportIfClosed(next, limit).catch(() => {})
        return { permits, waitMs: Math.min(wait.ms, wait.pollSoon ? POLL_SOON_MS : MAX_WAIT_MS) }
      },
      // A permit that was not returned counts until its bound: fewer calls then, never more.
      returnUnused: permit => returnPermit(permit).catch(() => {}),
    })
    const finish = gather((calls: readonly EndedCall[]) => recordCallEnds(pool, calls))
    return { acquire, finish }
  }

  async function reportIfClosed(call: Call<Operation>, limit: Limit): Promise<void> {
    if (!options.onClosed || reportedClosed.has(queueKeyOf(call))) return
    const closed = await findClosedLimit(pool, limit.limitKey, call.operation)
    if (closed === null) return
    reportedClosed.add(queueKeyOf(call))
    options.onClosed(call, closed)
  }

  async function returnPermit(permit: Permit<Operation>): Promise<void> {
    await pool.query('delete from ferry.platform_calls where id = $1', [permit.callId])
  }

  return {
    arrivalBoundMs: options.arrivalBoundMs,
    permitGoodForMs: (options.arrivalBoundMs * PERMIT_SHARE_PERCENT) / 100,

    acquirePermit: (call: Call<Operation>, signal: AbortSignal) => queueOf(call).acquire(call, signal),
    returnPermit,

    finishCall(permit: Permit<Operation>, end: CallEnd): Promise<void> {
      if (end.httpStatus !== null && !end.isOverLimit) reportedClosed.delete(queueKeyOf(permit.call))
      return queueOf(permit.call).finish({ callId: permit.callId, end })
    },
  }
}

/** Records the end of a call. A refusal because of the limit closes the operation to every worker for a while. */
export function recordCallEnd(client: Pool | PoolClient, callId: bigint, end: CallEnd): Promise<void> {
  return recordCallEnds(client, [{ callId, end }])
}

type EndedCall = { readonly callId: bigint; readonly end: CallEnd }

/** Records the ends of calls of one limit. Of several, it would lock their rows in an order of its own. */
async function recordCallEnds(client: Pool | PoolClient, calls: readonly EndedCall[]): Promise<void> {
  const ends = calls.map(({ end }) => end)
  await client.query(
    `select ferry_internal.finish_call(call_id, answered_ms_ago, http_status, error_code, request_id, is_over_limit, retry_after_ms, $8)
     from unnest($1::bigint[], $2::float8[], $3::int[], $4::text[], $5::text[], $6::boolean[], $7::float8[])
       as c (call_id, answered_ms_ago, http_status, error_code, request_id, is_over_limit, retry_after_ms)`,
    [
      calls.map(({ callId }) => callId),
      ends.map(end => (end.answeredAtMs === null ? null : performance.now() - end.answeredAtMs)),
      ends.map(end => end.httpStatus),
      ends.map(end => end.errorCode),
      ends.map(end => end.requestId),
      ends.map(end => end.isOverLimit),
      ends.map(end => (end.retryAfterMs === null ? null : Math.min(end.retryAfterMs, MAX_RETRY_AFTER_MS))),
      BACK_OFF_MS,
    ],
  )
}
