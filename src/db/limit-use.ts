import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { Limit } from '#src/model/limit.ts'

/** How much of a limit is used at this moment. */
const LimitUse = z.object({
  /** 0 to 1: the calls that count, of those allowed, in the window that is fullest. */
  used: z.number(),
  /** Until when a 429 of the platform closes it; null if it is open. */
  closedUntil: z.date().nullable(),
})
export type LimitUse = Readonly<z.infer<typeof LimitUse>>

/** Returns the use of each limit, in their order. */
export async function loadLimitUse(
  client: Pool | PoolClient,
  limits: readonly { readonly operation: string; readonly limit: Limit }[],
): Promise<LimitUse[]> {
  const windows = limits.flatMap(({ operation, limit }, index) =>
    limit.windows.map(window => ({ index, operation, key: limit.limitKey, ...window })),
  )
  const { rows } = await client.query(
    `select max(c.calls / a.max_calls) as used, max(l.blocked_until) as "closedUntil"
     from unnest($1::int[], $2::text[], $3::text[], $4::int[], $5::float8[]) as a (index, key, operation, window_ms, max_calls)
     cross join lateral (
       select count(*)::float8 as calls
       from ferry.counted_calls(a.key, a.operation, now() - a.window_ms * interval '1 ms')) c
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
  return LimitUse.array().length(limits.length).parse(rows)
}
