import type { Pool } from 'pg'
import { z } from 'zod'
import type { Call, Operation } from '#src/model/call.ts'
import { guardedMs, type Limit } from '#src/model/limit.ts'
import type { OwnCall } from './known-database.ts'
import { findAll, Int8 } from './rows.ts'

export type AcquiredPermits = {
  /** The first of the calls, in their order. */
  readonly acquired: readonly { readonly callId: bigint; readonly call: Call }[]
  /** How long the next call has to wait; null if every call has its permit. */
  readonly wait: { readonly ms: number; readonly pollSoon: boolean } | null
  /** Whether this is not the database that Ferry knew: nothing is acquired before that was noticed. */
  readonly isUnknown: boolean
}

/**
 * Acquires permits for the first of `calls`, as many as fit every window. All calls are of one operation and one limit.
 *
 * One statement and one transaction, however many they are. One of each per permit took 2 ms, on a busy machine 10: the
 * fiftieth page of a window went out 0.1 to 0.5 s after the first, and every later window began as late.
 */
export async function acquirePermits(
  pool: Pool,
  { limitKey, windows, accounts = [] }: Limit,
  operation: Operation,
  calls: readonly Call[],
  { arrivalBoundMs, ownCall }: { readonly arrivalBoundMs: number; readonly ownCall: OwnCall },
): Promise<AcquiredPermits> {
  const asked = await findAll(pool, Asked, ACQUIRE_PERMITS, [
    limitKey,
    operation,
    calls.map(call => call.account),
    calls.map(call => call.runId),
    windows.map(window => window.maxCalls),
    windows.map(window => guardedMs(window.windowMs)),
    guardedMs(arrivalBoundMs),
    ...ownCall.values(),
    accounts,
  ])
  const refused = asked.find(answer => answer.callId === null)
  return {
    acquired: calls.flatMap((call, n) => {
      const callId = asked[n]?.callId ?? null
      return callId === null ? [] : { callId, call }
    }),
    wait: refused ? { ms: refused.waitMs, pollSoon: refused.pollSoon } : null,
    isUnknown: refused?.isUnknown ?? false,
  }
}

/**
 * Asks for one call after the other until one has to wait. The first takes the locks of the limit and of its accounts, which
 * are held until all are asked, and asks what counts elsewhere and which database this is: to ask that again for each of fifty
 * pages took 30 ms. Each is a call of its own, because its arguments depend on `n`, and sees those recorded before it, because
 * every statement of a volatile function has its own snapshot.
 */
const ACQUIRE_PERMITS = `
  with recursive asked as (
    select 1 as n, p.* from ferry_internal.acquire_call_permit($1, $2, ($3::text[])[1], ($4::bigint[])[1], $5, $6, $7, $8, $9, $10, $11) p
    union all
    select n + 1, r.*, false
    from asked, ferry_internal.record_call($1, $2, ($3::text[])[n + 1], ($4::bigint[])[n + 1], $5, $6, $7) r
    where asked.call_id is not null and n < cardinality($3::text[])
  )
  select call_id, wait_ms, poll_soon, is_unknown from asked order by n`

/** A row of `ferry_internal.acquire_call_permit`: the id of the call that was recorded, or how long to wait. */
const Asked = z.union([
  z.object({ callId: Int8 }),
  z.object({ callId: z.null(), waitMs: z.number(), pollSoon: z.boolean(), isUnknown: z.boolean() }),
])
