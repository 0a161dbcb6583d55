import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { patiently } from './patience.ts'

/** At most `most` calls in any rolling window of `windowMs`. */
export type LimitWindow = { readonly most: number; readonly windowMs: number }

/** What the platform counts an account's calls of an operation under, and how many it allows. */
export type Limit = { readonly limitKey: string; readonly windows: readonly LimitWindow[] }

export type ThrottleOptions<Operation extends string> = {
  limitOf(account: string, operation: Operation): Limit
  readonly arrivalBoundMs: number
  /** Hears once of each limit that a call waits for because the platform closed it, until the platform answers again. */
  onClosed?(call: Call<Operation>, closed: Closed): void
}

/** Until when a limit is closed after a 429, and the request_id of that answer. */
export type Closed = { readonly until: Date; readonly requestId: string | null }

type Call<Operation extends string> = {
  readonly account: string
  readonly operation: Operation
  readonly runId: bigint | null
}

type Slot<Operation extends string> = {
  readonly callId: bigint
  readonly call: Call<Operation>
  readonly askedAtMs: number
}

export type CallEnd = {
  readonly answered: boolean
  readonly httpStatus: number | null
  readonly errorCode: string | null
  readonly requestId: string | null
  readonly retryAfterMs: number | null
}

/** While a wait hangs on calls in flight, which end at an unknown moment, it is looked up again this often. */
const ASK_AGAIN_MS = 50

/** A wait for a closed limit that people want to know of. */
const LONG_WAIT_MS = 3_000

/** However long the wait, the log is asked again after this: what closed an operation may be gone by then. */
const LONGEST_WAIT_MS = 60_000

/**
 * The throttle over the call log, exact across all processes of one database. It is the `Throttle` that the
 * platform room asks for; the two rooms meet in `ferry.ts` only.
 *
 * `ferry.take_slot` counts and records under the lock of one row; here is only the waiting. The callers of one
 * process wait in line, first come first served, so that fifty waiting pages ask the database once, not fifty times.
 * A slot may be sent for a fifth of the arrival bound after it was asked for (1 s of 5 s): past that the worker has
 * slept, and the call would reach the platform later than the log accounts for.
 */
export function openThrottle<Operation extends string>(pool: Pool, options: ThrottleOptions<Operation>) {
  const lines = new Map<string, Promise<unknown>>()
  const saidClosed = new Set<string>()

  function lineOf(call: Call<Operation>): string {
    return `${options.limitOf(call.account, call.operation).limitKey} ${call.operation}`
  }

  async function sayIfClosed(call: Call<Operation>, limit: Limit): Promise<void> {
    if (!options.onClosed || saidClosed.has(lineOf(call))) return
    const closed = await findClosed(pool, limit.limitKey, call.operation)
    if (!closed) return
    saidClosed.add(lineOf(call))
    options.onClosed(call, closed)
  }

  async function takeFirstInLine(call: Call<Operation>, limit: Limit, signal: AbortSignal) {
    for (;;) {
      signal.throwIfAborted()
      const askedAtMs = performance.now()
      // Repeated, it may take a second slot, which then counts for nothing sent: fewer calls, never more.
      const taken = await patiently(() => takeSlot(pool, call, limit, options.arrivalBoundMs), { signal })
      if (taken.callId !== null) {
        const slot = { callId: taken.callId, call, askedAtMs }
        if (!signal.aborted) return slot
        await giveBack(slot)
        continue
      }
      // What is only for people to know fails no call.
      if (taken.waitMs > LONG_WAIT_MS) await sayIfClosed(call, limit).catch(() => {})
      const longestMs = taken.sooner ? ASK_AGAIN_MS : LONGEST_WAIT_MS
      await delay(Math.min(taken.waitMs, longestMs), undefined, { signal })
    }
  }

  async function giveBack(slot: Slot<Operation>): Promise<void> {
    await pool.query('delete from ferry.platform_calls where id = $1', [slot.callId])
  }

  return {
    arrivalBoundMs: options.arrivalBoundMs,
    slotGoodForMs: options.arrivalBoundMs / 5,

    take(call: Call<Operation>, signal: AbortSignal): Promise<Slot<Operation>> {
      const limit = options.limitOf(call.account, call.operation)
      const line = lineOf(call)
      const ahead = lines.get(line) ?? Promise.resolve()
      const taken = ahead.then(() => takeFirstInLine(call, limit, signal))
      lines.set(
        line,
        taken.catch(() => {}),
      )
      return untilAborted(taken, signal)
    },

    giveBack,

    finish(slot: Slot<Operation>, end: CallEnd): Promise<void> {
      if (end.httpStatus !== null && end.httpStatus !== 429) saidClosed.delete(lineOf(slot.call))
      return finishCall(pool, slot.callId, end)
    },
  }
}

/** Whether the platform has closed a limit that is still closed. */
export async function findClosed(pool: Pool, limitKey: string, operation: string): Promise<Closed | null> {
  const { rows } = await pool.query<{ until: Date; request_id: string | null }>(
    `select blocked_until as until, (
       select request_id from ferry.platform_calls c
       where c.limit_key = l.limit_key and c.operation = l.operation and c.http_status = 429
       order by c.id desc limit 1
     ) as request_id
     from ferry.platform_limits l
     where limit_key = $1 and operation = $2 and blocked_until > clock_timestamp()`,
    [limitKey, operation],
  )
  const [row] = rows
  return row ? { until: row.until, requestId: row.request_id } : null
}

/** Records the end of a call; a 429 closes the operation to every worker for a while. */
export async function finishCall(client: Pool | PoolClient, callId: bigint, end: CallEnd): Promise<void> {
  await client.query('select ferry.finish_call($1, $2, $3, $4, $5, $6)', [
    callId,
    end.answered,
    end.httpStatus,
    end.errorCode,
    end.requestId,
    end.retryAfterMs,
  ])
}

/** Settles as `promise` does, or rejects as soon as `signal` aborts: one who gives up need not wait in line. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort))
}

type Taken =
  | { callId: bigint; waitMs: null; sooner: boolean }
  | { callId: null; waitMs: number; sooner: boolean }

async function takeSlot(pool: Pool, call: Call<string>, limit: Limit, boundMs: number): Promise<Taken> {
  const { rows } = await pool.query<{ call_id: string | null; wait_ms: number; sooner: boolean }>(
    'select call_id, wait_ms, sooner from ferry.take_slot($1, $2, $3, $4, $5, $6, $7)',
    [
      limit.limitKey,
      call.operation,
      call.account,
      call.runId,
      limit.windows.map(window => window.most),
      limit.windows.map(window => window.windowMs),
      boundMs,
    ],
  )
  const [row] = rows
  if (!row) throw new Error('ferry.take_slot answered no row')
  return row.call_id === null
    ? { callId: null, waitMs: row.wait_ms, sooner: row.sooner }
    : { callId: BigInt(row.call_id), waitMs: null, sooner: false }
}
