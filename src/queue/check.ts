import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { findValue } from '#src/db/rows.ts'
import { askForPassword } from '#src/db/watched-client.ts'
import { reasonOf } from '#src/model/reason.ts'
import { isTransient } from '#src/model/transient-error.ts'
import { within } from '#src/model/within.ts'
import { type BackendSettings, migrateQueue, openRawQueue } from './backend.ts'
import { checkBlockingRead, checkRedis } from './check-redis.ts'
import { connectionTo, describeTables, type QueueDatabase } from './in-postgres.ts'
import { prefixOf } from './in-redis.ts'
import { type AnyQueue, CHECK, leaveQueue } from './kind.ts'
import { QUEUE_NAMES, type QueueName } from './messages.ts'
import { hostOf, unfit } from './redis-replies.ts'
import { QueueRefused } from './refused.ts'

/** `installation` is null if it is unknown, or not made yet: then the queue is tried under a temporary prefix. */
export type CheckSettings = BackendSettings & { readonly installation: string | null }

type Installed = BackendSettings & { readonly installation: string }

const ANSWER_WITHIN_MS = 5_000

/**
 * Says in words where the queue is and what of it was checked. Does what a worker will have to do: a write, a script and a
 * blocking read under a prefix of Ferry's, or a job and a notification in Postgres. Throws `QueueRefused`.
 */
export async function checkQueue(settings: CheckSettings): Promise<string> {
  const { redisUrl, redisPassword = null, installation } = settings
  if (redisUrl === null) await expectSessions(settings)
  const found = redisUrl === null ? await describeTables(settings) : await checkRedis(redisUrl, redisPassword)
  const tried = { ...settings, installation: installation ?? `check-${randomUUID()}` }
  if (redisUrl !== null) await checkBlockingRead(redisUrl, redisPassword, prefixOf(tried.installation))
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
    const job = await within(ANSWER_WITHIN_MS, adding, () => {
      const message = `${where} did not accept a job within ${ANSWER_WITHIN_MS / 1_000} s.`
      return new QueueRefused(message, { mayPass: true })
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

/** A notification within one server takes milliseconds. */
const NOTIFIED_WITHIN_MS = 3_000
const PROTOCOL_VIOLATION = '08P01'

/** A setting like the one that the queue's connections begin with. */
const OPTIONS = '-c search_path=ferry_queue'

const WHAT_TO_DO =
  'Set REDIS_URL, so that the queue lives in Redis, or set DATABASE_URL to the Postgres server itself.'

/**
 * Throws `QueueRefused` if the queue cannot work through the connection pooler between Ferry and Postgres. The queue
 * begins its sessions with settings of their own, and listens for notifications.
 */
export async function expectSessions(database: QueueDatabase): Promise<void> {
  const options = connectionTo(database)
  const listener = new Client({ ...options, options: OPTIONS })
  const notifier = new Client(options)
  for (const client of [listener, notifier]) askForPassword(client, options)
  try {
    await connect(listener)
    const path = await findValue(listener, z.string(), `select current_setting('search_path')`)
    if (path !== 'ferry_queue') throw refusal('it drops the startup settings of a session')
    await connect(notifier)
    if (!(await isNotified(listener, notifier)))
      throw refusal('it pools transactions, and loses notifications')
  } finally {
    await Promise.all([listener.end(), notifier.end()])
  }
}

async function connect(client: Client): Promise<void> {
  client.on('error', () => {})
  await client.connect().catch(error => {
    if (!(error instanceof DatabaseError) || error.code !== PROTOCOL_VIOLATION) throw error
    throw refusal(error.message, error)
  })
}

async function isNotified(listener: Client, notifier: Client): Promise<boolean> {
  const channel = `ferry_${randomBytes(8).toString('hex')}`
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), NOTIFIED_WITHIN_MS)
  listener.on('notification', message => {
    if (message.channel === channel) resolve(true)
  })
  await listener.query(`listen ${channel}`)
  await notifier.query(`notify ${channel}`)
  return promise.finally(() => clearTimeout(timer))
}

function refusal(why: string, cause?: unknown): QueueRefused {
  return new QueueRefused(
    `The queue in Postgres does not work through the connection pooler of DATABASE_URL: ${why}. ${WHAT_TO_DO}`,
    { cause },
  )
}

const TRY_EVERY_MS = 1_000

/**
 * Brings the queue's tables up to date and returns what `checkQueue` found, once the queue can be used; at the latest
 * after `retryForMs`, so that a server may still be starting. Throws `QueueRefused`, at once if waiting cannot help.
 */
export async function reachQueue(
  settings: CheckSettings,
  { retryForMs, signal, log }: { retryForMs: number; signal: AbortSignal; log: Logger },
): Promise<string> {
  const giveUpAtMs = performance.now() + retryForMs
  let isReported = false
  for (;;) {
    signal.throwIfAborted()
    try {
      await migrateQueue(settings)
      return await checkQueue(settings)
    } catch (error) {
      const mayPass = error instanceof QueueRefused ? error.mayPass : isTransient(error)
      if (!mayPass || performance.now() > giveUpAtMs) throw error
      if (!isReported) log.info({ error: reasonOf(error) }, 'Waiting for the queue.')
      isReported = true
    }
    await delay(TRY_EVERY_MS, undefined, { signal })
  }
}
