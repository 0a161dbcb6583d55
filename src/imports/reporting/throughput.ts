import type { Pool } from 'pg'
import { z } from 'zod'

/** One minute of an account's imports. */
const ThroughputMinute = z.object({
  minute: z.date(),
  /** Calls that began in it, and rows that the platform accepted with them: not those that a person says were sent. */
  calls: z.number(),
  rows: z.number(),
  /** Calls that its limit allows in a minute; null if no worker has written that yet. */
  allowed: z.number().nullable(),
})
export type ThroughputMinute = Readonly<z.infer<typeof ThroughputMinute>>

/** Returns the last hour of an account's imports, the oldest minute first. Minutes without a call are not in it. */
export async function loadThroughput(pool: Pool, account: string): Promise<ThroughputMinute[]> {
  const { rows } = await pool.query(
    `select minute, calls, rows, allowed from ferry.import_throughput(date_trunc('minute', now()) - interval '59 minutes')
     where account = $1 order by minute`,
    [account],
  )
  return ThroughputMinute.array().parse(rows)
}
