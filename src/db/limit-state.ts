import type { Pool } from 'pg'
import { z } from 'zod'
import type { Limit } from '#src/model/limit.ts'
import { onlyRow } from './rows.ts'

/** What a limit allows for an operation at this moment. */
const LimitState = z.object({
  /** Until the next call may begin. */
  waitMs: z.number(),
  /** Until the platform's refusal no longer stops all calls; 0 if none did. */
  closedMs: z.number(),
  /** Calls that count in the longest window, and how long ago the first of them began. */
  counted: z.number(),
  countedForMs: z.number(),
})
export type LimitState = Readonly<z.infer<typeof LimitState>>

/** Reads from the call log how long the next call of `operation` would wait, and acquires nothing. */
export async function loadLimitState(
  pool: Pool,
  { limitKey, windows }: Limit,
  operation: string,
): Promise<LimitState> {
  const { rows } = await pool.query(
    `with calls as (
       select c.started from ferry.counted_calls($1, $5, now() - $4 * interval '1 ms') c
     ), windows as (
       select max(w.free_at) as free_at from ferry.full_windows($1, $5, $2::int[], $3::int[], now()) w
     ), closed as (
       select max(l.blocked_until) as until from ferry.platform_limits l
       where l.limit_key = $1 and l.operation = $5
     )
     select greatest(extract(epoch from greatest(windows.free_at, closed.until) - now()), 0)::float8 * 1000 as "waitMs",
       greatest(extract(epoch from closed.until - now()), 0)::float8 * 1000 as "closedMs",
       (select count(*)::int from calls) as counted,
       coalesce(extract(epoch from now() - (select min(started) from calls)), 0)::float8 * 1000 as "countedForMs"
     from windows, closed`,
    [
      limitKey,
      windows.map(window => window.maxCalls),
      windows.map(window => window.windowMs),
      Math.max(...windows.map(window => window.windowMs)),
      operation,
    ],
  )
  return onlyRow(LimitState.array().parse(rows), 'looking at the limit')
}
