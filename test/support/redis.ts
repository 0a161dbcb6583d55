import { Redis } from 'ioredis'
import { waitFor } from './wait-for.ts'

/** The Redis to test on, or undefined: tests that need it are skipped without `FERRY_TEST_REDIS_URL`. */
export const testRedisUrl: string | undefined = process.env.FERRY_TEST_REDIS_URL || undefined

export type TestRedis = {
  readonly url: string
  [Symbol.asyncDispose](): Promise<void>
}

/** Numbers of the databases a Redis has by default; 0 keeps the note of who uses which. */
const DATABASES = Array.from({ length: 15 }, (_, index) => index + 1)

/** Longer than any test: after a test run that was killed, its database is free again then. */
const LENT_SECONDS = 300

/**
 * An empty Redis database nobody else uses: the test may wipe it with FLUSHDB (never FLUSHALL). Emptied again
 * on dispose. A database that holds somebody else's keys is never taken.
 */
export async function openTestRedis(): Promise<TestRedis> {
  if (!testRedisUrl) throw new Error('FERRY_TEST_REDIS_URL is not set: skip this test')
  const number = await waitFor(() => borrow(testRedisUrl), {
    what: 'a free Redis database',
  })
  return {
    url: withDatabase(testRedisUrl, number),
    async [Symbol.asyncDispose]() {
      await using own = connect(withDatabase(testRedisUrl, number))
      await own.redis.flushdb()
      await using notes = connect(withDatabase(testRedisUrl, 0))
      await notes.redis.del(noteOf(number))
    },
  }
}

async function borrow(redisUrl: string): Promise<number | undefined> {
  await using notes = connect(withDatabase(redisUrl, 0))
  for (const number of DATABASES) {
    if (!(await notes.redis.set(noteOf(number), process.pid, 'EX', LENT_SECONDS, 'NX'))) continue
    await using own = connect(withDatabase(redisUrl, number))
    const ours = await notes.redis.sismember('ferry-test:databases', number)
    if (!ours && (await own.redis.dbsize()) > 0) continue // noted for a while, so that nobody looks again
    await notes.redis.sadd('ferry-test:databases', number)
    await own.redis.flushdb()
    return number
  }
  return undefined
}

function noteOf(number: number): string {
  return `ferry-test:in-use:${number}`
}

function withDatabase(redisUrl: string, number: number): string {
  const url = new URL(redisUrl)
  url.pathname = `/${number}`
  return url.href
}

function connect(url: string): { redis: Redis; [Symbol.asyncDispose](): Promise<void> } {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 })
  return {
    redis,
    async [Symbol.asyncDispose]() {
      await redis.quit()
    },
  }
}
