import type { Pool } from 'pg'

/** A limit that the platform closed with a 429: until when, and the `request_id` of the latest such answer. */
export type ClosedLimit = { readonly until: Date; readonly requestId: string | null }

/** Returns the closed limit of an operation, or null if it is open. */
export async function findClosedLimit(
  pool: Pool,
  limitKey: string,
  operation: string,
): Promise<ClosedLimit | null> {
  const { rows } = await pool.query<ClosedLimit>(
    `select blocked_until as until, (
       select request_id from ferry.platform_calls c
       where c.limit_key = l.limit_key and c.operation = l.operation and c.http_status = 429
       order by c.id desc limit 1
     ) as "requestId"
     from ferry.platform_limits l
     where limit_key = $1 and operation = $2 and blocked_until > clock_timestamp()`,
    [limitKey, operation],
  )
  return rows[0] ?? null
}
