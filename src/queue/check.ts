import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type BackendSettings, openRawQueue } from './backend.ts'
import { checkBlockingRead, checkRedis } from './check-redis.ts'
import { describeTables } from './in-postgres.ts'
import { prefixOf } from './in-redis.ts'
import { type AnyQueue, CHECK, leaveQueue } from './kind.ts'
import { QUEUE_NAMES, type QueueName } from './messages.ts'
import { expectSessions } from './pooler.ts'
import { hostOf, unfit } from './redis-replies.ts'
import { QueueRefused } from './refused.ts'

/** `installation` is null if it is not known, or not made yet: then the queue is tried under a prefix that is thrown away. */
export type CheckSettings = BackendSettings & { readonly installation: string | null }

type Installed = BackendSettings & { readonly installation: string }

const ANSWER_WITHIN_MS = 5_000

/**
 * Says in words where the queue is and what of it was checked. Does what a worker will have to do: a write, a script and a
 * blocking read under a prefix of Ferry's, or a job and a notification in Postgres. Throws `QueueRefused`.
 */
export async function checkQueue(settings: CheckSettings): Promise<string> {
  const { redisUrl, databaseUrl, installation } = settings
  if (redisUrl === null) await expectSessions(databaseUrl)
  const found = redisUrl === null ? await describeTables(databaseUrl) : await checkRedis(redisUrl)
  const tried = { ...settings, installation: installation ?? `check-${randomUUID()}` }
  if (redisUrl !== null) await checkBlockingRead(redisUrl, prefixOf(tried.installation))
  for (const name of QUEUE_NAMES) {
    await addAndRemove(tried, name)
    if (redisUrl !== null && installation === null) {
      await withQueue(tried, name, queue => queue.obliterate({ force: true }))
    }
  }
  return `${found}; a job can be added`
}

async function addAndRemove(settings: Installed, name: QueueName): Promise<void> {
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
    throw unfit(where, error)
  })
}

/** Lends `work` a queue of BullMQ and closes it. */
export async function withQueue(
  settings: Installed,
  name: QueueName,
  work: (queue: AnyQueue) => Promise<void>,
): Promise<void> {
  const queue = openRawQueue(settings, name)
  queue.on('error', () => {})
  try {
    await work(queue)
  } finally {
    await leaveQueue(queue)
  }
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
