import { Redis } from 'ioredis'
import type { Pool } from 'pg'
import { retryTransient } from '#src/db/retry.ts'

/** The queue forgets everything, as after FLUSHALL: that on Redis if there is one, else that in Postgres. */
export async function wipeQueue(pool: Pool, redisUrl?: string): Promise<void> {
  if (redisUrl !== undefined) {
    const redis = new Redis(redisUrl)
    await redis.flushdb()
    await redis.quit()
    return
  }
  const { rows } = await pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'ferry_queue' and tablename <> 'migration'`,
  )
  // A worker that uses the queue at the same time may deadlock with it.
  await retryTransient(() => pool.query(`truncate ${rows.map(row => `ferry_queue.${row.name}`).join(', ')}`))
}
