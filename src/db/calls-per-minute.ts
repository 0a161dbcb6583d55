import type { Pool } from 'pg'
import type { Limit } from '#src/model/limit.ts'

const MINUTE_MS = 60_000

/** How many calls all windows of a limit together let through in a minute that begins with none counted. */
export function callsPerMinute({ windows }: Pick<Limit, 'windows'>): number {
  return Math.min(...windows.map(({ maxCalls, windowMs }) => Math.floor((maxCalls * MINUTE_MS) / windowMs)))
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
