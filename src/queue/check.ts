import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { assertSchemaCompatibility, SchemaMigrationRequiredError } from 'bullmq'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import {
  type BackendSettings,
  isConnectionLost,
  migrateQueue,
  openRawQueue,
  prefixOf,
  QUEUE_NAMES,
  type QueueName,
  SCHEMA,
  withClient,
} from './backend.ts'
import { expectSessions } from './pooler.ts'
import { type AnyQueue, CHECK } from './producer.ts'
import { adviceOnReply, checkRedis, hostOf, replyOf } from './redis.ts'
import { QueueHasNoTables, QueueRefused } from './refused.ts'

/** `installation` is null if it is not known, or not made yet: then the queue is tried under a prefix that is thrown away. */
export type CheckSettings = BackendSettings & { readonly installation: string | null }

const TRY_EVERY_MS = 1_000
const ANSWER_WITHIN_MS = 5_000

/**
 * Says where the queue lives and what of it was checked, in words. Does what a worker will have to do: a write, a script
 * and a blocking read under a prefix of Ferry's, or a job and a notification in Postgres. Throws `QueueRefused`.
 */
export async function checkQueue(settings: CheckSettings): Promise<string> {
  const { redisUrl, databaseUrl, installation } = settings
  if (redisUrl === null) await expectSessions(databaseUrl)
  const found = redisUrl === null ? await checkTables(databaseUrl) : await checkRedis(redisUrl)
  const tried = { ...settings, installation: installation ?? `check-${randomUUID()}` }
  if (redisUrl !== null) await checkBlockingRead(redisUrl, prefixOf(tried.installation))
  for (const name of QUEUE_NAMES) {
    await addAndRemove(tried, name)
    if (redisUrl !== null && installation === null) await removeQueue(tried, name)
  }
  return `${found}; a job can be added`
}

/**
 * Brings the queue's tables up to date and returns what `checkQueue` found, once it is in reach; at the latest after
 * `patienceMs`, which gives a server that is starting its time. Throws `QueueRefused`, at once where waiting is no use.
 */
export async function reachQueue(
  settings: CheckSettings,
  { patienceMs, signal, log }: { patienceMs: number; signal: AbortSignal; log: Logger },
): Promise<string> {
  const giveUpAt = performance.now() + patienceMs
  let said = false
  for (;;) {
    signal.throwIfAborted()
    try {
      await migrateQueue(settings)
      const found = await checkQueue(settings)
      await forgetSchedulers(settings)
      return found
    } catch (error) {
      const mayPass = error instanceof QueueRefused ? error.mayPass : isConnectionLost(error)
      if (!mayPass || performance.now() > giveUpAt) throw error
      if (!said) log.info({ error: reasonOf(error) }, 'waiting for the queue')
      said = true
    }
    await delay(TRY_EVERY_MS, undefined, { signal })
  }
}

/** Earlier versions kept their schedules in the queue. */
async function forgetSchedulers({ installation, ...settings }: CheckSettings): Promise<void> {
  if (installation === null) return
  await withQueue({ ...settings, installation }, 'sync', async queue => {
    for (const { key } of await queue.getJobSchedulers()) await queue.removeJobScheduler(key)
  })
}

async function checkTables(databaseUrl: string): Promise<string> {
  const version = await withClient(databaseUrl, client => assertSchemaCompatibility(client, SCHEMA)).catch(
    error => {
      if (!(error instanceof SchemaMigrationRequiredError)) throw error
      throw new QueueHasNoTables('The queue has no tables in this database yet. Run `ferry migrate`.', {
        cause: error,
      })
    },
  )
  return `in Postgres, schema ${SCHEMA}, version ${version}`
}

/** A worker waits for jobs by a read that blocks. */
async function checkBlockingRead(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null, commandTimeout: 5_000 })
  redis.on('error', () => {})
  try {
    await redis.bzpopmin(`${prefix}:${CHECK}`, 0.01)
  } catch (error) {
    throw refused(`Redis at ${hostOf(url)}`, error)
  } finally {
    redis.disconnect()
  }
}

async function addAndRemove(
  settings: BackendSettings & { readonly installation: string },
  name: QueueName,
): Promise<void> {
  const where = settings.redisUrl === null ? 'Postgres' : `Redis at ${hostOf(settings.redisUrl)}`
  await withQueue(settings, name, async queue => {
    const adding = queue
      .waitUntilReady()
      .then(() => queue.add(CHECK, {}, { removeOnComplete: true, removeOnFail: true }))
    const job = await answered(adding, () => {
      const message = `${where} did not take a job within ${ANSWER_WITHIN_MS / 1_000} s.`
      throw new QueueRefused(message, { mayPass: true })
    })
    // A worker may have it already.
    await job.remove().catch(() => {})
  }).catch(error => {
    if (error instanceof QueueRefused || settings.redisUrl === null) throw error
    throw refused(where, error)
  })
}

/** Leaves no key of a queue that was made to try it. */
async function removeQueue(
  settings: BackendSettings & { readonly installation: string },
  name: QueueName,
): Promise<void> {
  await withQueue(settings, name, queue => queue.obliterate({ force: true }))
}

async function withQueue(
  settings: BackendSettings & { readonly installation: string },
  name: QueueName,
  work: (queue: AnyQueue) => Promise<void>,
): Promise<void> {
  const queue = openRawQueue(settings, name)
  queue.on('error', () => {})
  try {
    await work(queue)
  } finally {
    await queue
      .getBackend()
      .close(true)
      .catch(() => {})
  }
}

function refused(where: string, error: unknown): QueueRefused {
  const why = replyOf(error)
  const advice = adviceOnReply(why)
  return new QueueRefused(
    `${where} cannot carry the queue: ${why}. ${advice ?? 'Mend that, or unset REDIS_URL to keep the queue in Postgres.'}`,
    { mayPass: advice === undefined, cause: error },
  )
}

/** What `work` resolves to, if it does soon; else what `late` throws. */
async function answered<T>(work: Promise<T>, late: () => never): Promise<T> {
  const timeUp = new AbortController()
  work.catch(() => {})
  const timer = delay(ANSWER_WITHIN_MS, undefined, { signal: timeUp.signal }).then(late)
  try {
    return await Promise.race([work, timer])
  } finally {
    timeUp.abort()
    timer.catch(() => {})
  }
}
