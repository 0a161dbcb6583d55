import type { Pool } from 'pg'
import { z } from 'zod'
import { guardedMs, type Limit } from '#src/model/limit.ts'
import { findAll, findMaybe, findOne, type Queryable } from './rows.ts'

/** The state of a limit for an operation at this moment. */
const LimitState = z.object({
  /** Until the next call may begin. */
  waitMs: z.number(),
  /** Until nothing stops all calls any more: a 429 of the platform, or a change of the database if there was none since; 0 if nothing does. */
  closedMs: z.number(),
  hasRefused: z.boolean(),
  /** Calls that count in the longest window, and how long ago the first of them began. */
  counted: z.number(),
  countedForMs: z.number(),
})
export type LimitState = Readonly<z.infer<typeof LimitState>>

/** Reads from the call log how long the next call of `operation` would wait, and acquires nothing. */
export function loadLimitState(
  pool: Pool,
  { limitKey, windows }: Limit,
  operation: string,
): Promise<LimitState> {
  return findOne(
    pool,
    LimitState,
    `select wait_ms, closed_ms, counted, counted_for_ms, exists (
       select from ferry.platform_limits l where l.limit_key = $1 and l.operation = $2 and l.blocked_by is not null) as has_refused
     from ferry_internal.limit_state($1, $2, $3::int[], $4::int[])`,
    [
      limitKey,
      operation,
      windows.map(window => window.maxCalls),
      windows.map(window => guardedMs(window.windowMs)),
    ],
  )
}

/**
 * A limit that is closed: until when, and the `request_id` of the platform's last answer that said so. If the platform has not
 * refused, Ferry closed it, because it noticed that this is another database.
 */
const ClosedLimit = z.object({ until: z.date(), requestId: z.string().nullable(), hasRefused: z.boolean() })
export type ClosedLimit = Readonly<z.infer<typeof ClosedLimit>>

/** Returns the closed limit of an operation, or null if it is open. */
export function findClosedLimit(
  pool: Pool,
  limitKey: string,
  operation: string,
): Promise<ClosedLimit | null> {
  return findMaybe(
    pool,
    ClosedLimit,
    `select l.blocked_until as until, c.request_id, l.blocked_by is not null as has_refused
     from ferry.platform_limits l left join ferry.platform_calls c on c.id = l.blocked_by
     where l.limit_key = $1 and l.operation = $2 and l.blocked_until > clock_timestamp()`,
    [limitKey, operation],
  )
}

/** How much of a limit is used at this moment. */
const LimitUse = z.object({
  /** 0 to 1: the calls that count, of those allowed, in the window that is fullest. */
  used: z.number(),
  /** Until when it is closed; null if it is open. */
  closedUntil: z.date().nullable(),
})
export type LimitUse = Readonly<z.infer<typeof LimitUse>>

/** Returns the use of each limit, in their order. */
export function loadLimitUse(
  client: Queryable,
  limits: readonly { readonly operation: string; readonly limit: Limit }[],
): Promise<LimitUse[]> {
  const windows = limits.flatMap(({ operation, limit }, index) =>
    limit.windows.map(window => ({ index, operation, key: limit.limitKey, ...window })),
  )
  return findAll(
    client,
    LimitUse,
    `select max(c.calls / a.max_calls) as used, max(l.blocked_until) as closed_until
     from unnest($1::int[], $2::text[], $3::text[], $4::int[], $5::float8[]) as a (index, key, operation, window_ms, max_calls)
     cross join lateral (
       select count(*)::float8 as calls
       from ferry_internal.counted_calls(a.key, a.operation, now() - a.window_ms * interval '1 ms')) c
     left join ferry.platform_limits l
       on l.limit_key = a.key and l.operation = a.operation and l.blocked_until > now()
     group by a.index order by a.index`,
    [
      windows.map(({ index }) => index),
      windows.map(({ key }) => key),
      windows.map(({ operation }) => operation),
      windows.map(({ windowMs }) => windowMs),
      windows.map(({ maxCalls }) => maxCalls),
    ],
  )
}

const MINUTE_MS = 60_000
const MAX_INT4 = 2 ** 31 - 1

/** How many calls a minute all windows of a limit together let through; at least one, and no more than Postgres can store. */
export function callsPerMinute({ windows }: Pick<Limit, 'windows'>): number {
  const each = windows.map(({ maxCalls, windowMs }) => Math.floor((maxCalls * MINUTE_MS) / windowMs))
  return Math.max(1, Math.min(...each, MAX_INT4))
}

/** Writes how many calls a minute the settings of this worker allow, for the reports that compare calls with it. */
export async function saveCallsPerMinute(
  pool: Pool,
  limits: readonly (Limit & { readonly operation: string })[],
): Promise<void> {
  // In one order: workers that start at once write the same rows.
  const keys = [...new Map(limits.map(limit => [`${limit.limitKey} ${limit.operation}`, limit]))].sort()
  const rows = keys.map(([, limit]) => limit)
  await pool.query(
    `insert into ferry.platform_limits (limit_key, operation, calls_per_minute)
     select * from unnest($1::text[], $2::text[], $3::int[])
     on conflict (limit_key, operation) do update set calls_per_minute = excluded.calls_per_minute`,
    [rows.map(row => row.limitKey), rows.map(row => row.operation), rows.map(callsPerMinute)],
  )
}
