import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'

/** A minute in which calls of a limit began, see the function `ferry.limit_use`. */
const LimitMinute = z.object({
  minute: z.date(),
  /** Several, if they share the limit. */
  account: z.string(),
  operation: z.string(),
  calls: z.number(),
  /** Of those allowed in a minute, 0 to 1; null as long as no worker has written how many are allowed. */
  share: z.number().nullable(),
  /** How many were answered 429. */
  refused: z.number(),
})
export type LimitMinute = Readonly<z.infer<typeof LimitMinute>>

/** The minutes of the last hour, the latest first. A minute without a call has no row. */
export async function listLimitUse(client: Pool | PoolClient): Promise<LimitMinute[]> {
  const { rows } = await client.query(
    'select minute, account, operation, calls, share, refused from ferry.limit_use()',
  )
  return LimitMinute.array().parse(rows)
}
