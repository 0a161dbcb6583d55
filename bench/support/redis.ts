import { Redis } from 'ioredis'
import type { Client } from 'pg'
import { prefixOf } from '#src/queue/in-redis.ts'
import type { Lab } from './lab.ts'

export const REDIS_URL = process.env.FERRY_BENCH_REDIS_URL || 'redis://127.0.0.1:6379'

/** Whether there is a Redis for the queue of a bench. */
export async function hasRedis(): Promise<boolean> {
  const redis = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return true
  } catch {
    return false
  } finally {
    redis.disconnect()
  }
}

/** Removes the queue of a migrated database from Redis after the bench. */
export async function cleanUpRedis(lab: Lab, client: Client): Promise<void> {
  const { rows } = await client.query<{ id: string }>('select id from ferry.installation')
  const prefix = prefixOf(rows[0]?.id ?? '')
  lab.defer(async () => {
    const redis = new Redis(REDIS_URL)
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
    redis.disconnect()
  })
}
