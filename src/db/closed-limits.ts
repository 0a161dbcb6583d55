import type { Pool } from 'pg'

/** A limit that the platform closed: until when, and the `request_id` of its last answer that said so. */
export type ClosedLimit = { readonly until: Date; readonly requestId: string | null }

/** Returns the closed limit of an operation, or null if it is open. */
export async function findClosedLimit(
  pool: Pool,
  limitKey: string,
  operation: string,
): Promise<ClosedLimit | null> {
  const { rows } = await pool.query<ClosedLimit>(
    `select l.blocked_until as until, c.request_id as "requestId"
     from ferry.platform_limits l left join ferry.platform_calls c on c.id = l.blocked_by
     where l.limit_key = $1 and l.operation = $2 and l.blocked_until > clock_timestamp()`,
    [limitKey, operation],
  )
  return rows[0] ?? null
}
