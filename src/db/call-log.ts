import type { Pool, PoolClient } from 'pg'
import type { Call, CallEnd, Operation, Permit } from '#src/model/call.ts'
import { type Limit, MAX_RETRY_AFTER_MS, PERMIT_SHARE_PERCENT, POLL_SOON_MS } from '#src/model/limit.ts'
import { momentNow } from '#src/model/moment.ts'
import { acquirePermits } from './acquire-permits.ts'
import type { OwnCall } from './known-database.ts'
import { type ClosedLimit, findClosedLimit } from './limits.ts'
import { gather, openPermitQueue } from './permit-queue.ts'
import { retryTransient } from './retry.ts'

export type ThrottleOptions = {
  limitOf(account: string, operation: Operation): Limit
  readonly arrivalBoundMs: number
  /** Called once for each limit that the platform has closed and a call waits for, until the platform answers again. */
  onClosed?(call: Call, closed: ClosedLimit): void
  /** Remembers each call that has ended. */
  readonly ownCall: OwnCall
  /** Records that this is not the database that Ferry knew, see `known-database.ts`. No call is made before. */
  noticeDatabase(): Promise<unknown>
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
 * `ferry_internal.acquire_call_permit` counts and records under the lock of one row; this module only waits. The callers of one process
 * queue up and ask together, and the ends of their calls are recorded together: fifty pages that are sent and answered
 * within a moment cost a few round trips to the database, not a hundred.
 * A permit is good for `PERMIT_SHARE_PERCENT` of the arrival bound after it was asked for. A worker that uses it later has
 * slept, and its call would reach the platform later than the log assumes.
 */
export function createThrottle(pool: Pool, options: ThrottleOptions) {
  const { arrivalBoundMs, limitOf } = options
  const queues = new Map<string, CallQueue>()

  function queueOf({ account, operation }: Call): CallQueue {
    const limit = limitOf(account, operation)
    const key = `${limit.limitKey} ${operation}`
    const queue = queues.get(key) ?? new CallQueue(pool, limit, operation, options)
    queues.set(key, queue)
    return queue
  }

  return {
    arrivalBoundMs,
    permitGoodForMs: (arrivalBoundMs * PERMIT_SHARE_PERCENT) / 100,
    acquirePermit: (call: Call, signal: AbortSignal) => queueOf(call).acquire(call, signal),
    returnPermit: (permit: Permit) => returnPermit(pool, permit),
    finishCall: (permit: Permit, end: CallEnd) => queueOf(permit.call).finish(permit, end),
  }
}

/** The calls of one operation under one limit: they wait together, and their ends are recorded together. */
class CallQueue {
  readonly acquire: (call: Call, signal: AbortSignal) => Promise<Permit>
  readonly #recordEnd: (call: EndedCall) => Promise<void>
  readonly #pool: Pool
  readonly #limit: Limit
  readonly #operation: Operation
  readonly #options: ThrottleOptions
  #isReportedClosed = false

  constructor(pool: Pool, limit: Limit, operation: Operation, options: ThrottleOptions) {
    this.#pool = pool
    this.#limit = limit
    this.#operation = operation
    this.#options = options
    this.acquire = openPermitQueue<Call, Permit>({
      acquirePermits: (calls, signal) => this.#acquireAll(calls, signal),
      // A permit that was not returned counts until its bound: fewer calls then, never more.
      returnUnused: permit => returnPermit(pool, permit).catch(() => {}),
    })
    this.#recordEnd = gather(calls => recordCallEnds(pool, calls))
  }

  async finish(permit: Permit, end: CallEnd): Promise<void> {
    if (end.httpStatus !== null && !end.isOverLimit) this.#isReportedClosed = false
    await this.#recordEnd({ callId: permit.callId, end })
    this.#options.ownCall.remember(permit, end)
  }

  async #acquireAll(calls: readonly Call[], signal: AbortSignal) {
    const askedAt = momentNow()
    // Repeated after a lost answer, it may acquire permits that nobody uses: fewer calls then, never more.
    const { acquired, wait, isUnknown } = await retryTransient(
      () => acquirePermits(this.#pool, this.#limit, this.#operation, calls, this.#options),
      { signal },
    )
    if (isUnknown) await this.#options.noticeDatabase()
    const permits = acquired.map(permit => ({ ...permit, askedAt }))
    if (wait === null) return { permits, waitMs: 0 }
    const next = calls[permits.length]
    // A report that fails must not fail the call.
    if (next && wait.ms > LONG_WAIT_MS) await this.#reportIfClosed(next).catch(() => {})
    return { permits, waitMs: Math.min(wait.ms, wait.pollSoon ? POLL_SOON_MS : MAX_WAIT_MS) }
  }

  async #reportIfClosed(call: Call): Promise<void> {
    const { onClosed } = this.#options
    if (!onClosed || this.#isReportedClosed) return
    const closed = await findClosedLimit(this.#pool, this.#limit.limitKey, this.#operation)
    if (closed === null) return
    this.#isReportedClosed = true
    onClosed(call, closed)
  }
}

async function returnPermit(pool: Pool, { callId }: Permit): Promise<void> {
  await pool.query('delete from ferry.platform_calls where id = $1', [callId])
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
