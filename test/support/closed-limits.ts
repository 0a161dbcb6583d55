import type { Pool } from 'pg'

/** The time for which the platform closed a limit is over, a minute ago. */
export async function reopenLimits(pool: Pool): Promise<void> {
  await pool.query(`update ferry.platform_limits set blocked_until = clock_timestamp() - interval '1 min'`)
}

/** For how long the only operation of a limit is closed; less than 0 once that is over. */
export async function closedForMs(pool: Pool, limitKey: string): Promise<number> {
  const { rows } = await pool.query<{ ms: number }>(
    `select extract(epoch from blocked_until - clock_timestamp())::float8 * 1000 as ms
     from ferry.platform_limits where limit_key = $1`,
    [limitKey],
  )
  return rows[0]!.ms
}
