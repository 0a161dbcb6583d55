import type { Pool } from 'pg'
import { z } from 'zod'
import type { Limit } from '#src/model/limit.ts'
import { onlyRow } from './rows.ts'

/** What a limit allows for an operation at this moment. */
const LimitState = z.object({
  /** Until the next call may begin. */
  waitMs: z.number(),
  /** Until the end of the time for which a 429 stopped all calls; 0 if none did. */
  closedMs: z.number(),
  /** Calls that count in the longest window, and how long ago the first of them began. */
  counted: z.number(),
  countedForMs: z.number(),
})
export type LimitState = Readonly<z.infer<typeof LimitState>>

/**
 * Reads from the call log how long the next call of `operation` would wait, and acquires nothing. The arithmetic is that of
 * `sql/acquire_permit.sql`: change both together.
 */
export async function loadLimitState(
  pool: Pool,
  { limitKey, windows }: Limit,
  operation: string,
): Promise<LimitState> {
  const { rows } = await pool.query(
    `with calls as (
       select c.started, least(c.finished, c.counted_by) as counts_until from ferry.platform_calls c
       where c.limit_key = $1 and c.operation = $5
         and c.counted_by > now() - $4 * interval '1 ms'
         and least(c.finished, c.counted_by) > now() - $4 * interval '1 ms'
     ), windows as (
       select (select counts_until from calls
               where counts_until > now() - w.ms * interval '1 ms'
               order by counts_until desc offset w.max_calls - 1 limit 1) + w.ms * interval '1 ms' as free_at
       from unnest($2::int[], $3::int[]) as w (max_calls, ms)
     ), closed as (
       select max(l.blocked_until) as until from ferry.platform_limits l
       where l.limit_key = $1 and l.operation = $5
     )
     select greatest(extract(epoch from greatest((select max(free_at) from windows), closed.until) - now()), 0)::float8
         * 1000 as "waitMs",
       greatest(extract(epoch from closed.until - now()), 0)::float8 * 1000 as "closedMs",
       (select count(*)::int from calls) as counted,
       coalesce(extract(epoch from now() - (select min(started) from calls)), 0)::float8 * 1000 as "countedForMs"
     from closed`,
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
