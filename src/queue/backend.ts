import type { Logger } from 'pino'
import { placeOf } from '#src/model/postgres-address.ts'
import { reasonOf } from '#src/model/reason.ts'
import type { Secret } from '#src/model/secret.ts'
import { isTransient } from '#src/model/transient-error.ts'
import { inPostgres, migrateTables, POSTGRES_CONNECTIONS, type QueueDatabase } from './in-postgres.ts'
import { inRedis } from './in-redis.ts'
import type { AnyQueue, ErrorSource, QueueKind, QueueWorker, WakeUpProcessor } from './kind.ts'
import { QUEUE_NAMES, type QueueName, type WakeUps } from './messages.ts'
import { Outage } from './outage.ts'
import { Producer } from './producer.ts'
import { adviceOnReply, hostOf } from './redis-replies.ts'

/*
 * Where the queue is: in Redis if there is one, else in Ferry's own Postgres. No other room knows which it is.
 *
 *     worker ──► consumer ─┐                 ┌─ in-redis
 *                          ├─ backend ─ kind ┤
 *     wake-ups ──────► producer              └─ in-postgres
 */

/** Holds passwords: never log it. */
export type BackendSettings = QueueDatabase & {
  /** Null: the queue is in Postgres. */
  readonly redisUrl: string | null
  readonly redisPassword?: Secret | null
}

export type OpenSettings = BackendSettings & { readonly installation: string; readonly log: Logger }

export type QueueBackend = {
  readonly outage: Outage
  /** Answers soon, whether the queue can be reached or not, and works again once it can. */
  openQueue<Name extends QueueName>(name: Name): Producer<WakeUps[Name]>
  /** A worker that has yet to become ready, and to run. It processes `concurrency` wake-ups at once. */
  openWorker<Name extends QueueName>(
    name: Name,
    process: WakeUpProcessor<WakeUps[Name]>,
    concurrency: number,
  ): QueueWorker
}

/** Chooses Redis or Postgres. Connects to nothing yet. */
export function openBackend(settings: OpenSettings): QueueBackend {
  const { log } = settings
  const outage = new Outage(log, placeOfQueue(settings))
  const kind = kindOf(settings)
  return {
    outage,
    openQueue<Name extends QueueName>(name: Name) {
      const open = () => reportErrors(kind.openQueue(name), `${name}: add`, outage, log)
      return new Producer<WakeUps[Name]>(name, open, outage)
    },
    openWorker<Name extends QueueName>(
      name: Name,
      process: WakeUpProcessor<WakeUps[Name]>,
      concurrency: number,
    ) {
      const worker = kind.openWorker(name, process as WakeUpProcessor<unknown>, concurrency, outage)
      return reportErrors(worker, `${name}: fetch`, outage, log)
    },
  }
}

/** BullMQ's own queue, for what Ferry does not do in its daily work: checks and tests. */
export function openRawQueue(settings: Omit<OpenSettings, 'log'>, name: QueueName): AnyQueue {
  return kindOf(settings).openQueue(name)
}

/** Brings the queue's own tables up to date, if it is in Postgres. Safe from any number of processes at once. */
export async function migrateQueue(settings: BackendSettings): Promise<void> {
  if (settings.redisUrl === null) await migrateTables(settings)
}

/** The connections a worker's queues take at most. */
export function connectionBudget({ redisUrl }: BackendSettings): {
  readonly postgres: number
  readonly redis: number
} {
  const queues = QUEUE_NAMES.length
  return redisUrl === null
    ? { postgres: POSTGRES_CONNECTIONS * queues, redis: 0 }
    : { postgres: 0, redis: 3 * queues }
}

function kindOf(settings: Omit<OpenSettings, 'log'>): QueueKind {
  const { redisUrl, redisPassword = null, installation } = settings
  return redisUrl === null ? inPostgres(settings) : inRedis(redisUrl, redisPassword, installation)
}

function placeOfQueue({ redisUrl, databaseUrl }: BackendSettings): string {
  return redisUrl === null
    ? `Postgres at ${placeOf(databaseUrl)}`
    : `Redis at ${hostOf(redisUrl)} (REDIS_URL)`
}

/** The same error again within this time is logged at `debug`. */
const SAME_ERROR_MS = 600_000

/** The answer of Redis to a client that waits for a job while Redis becomes a replica. */
const TURNED_REPLICA = /^UNBLOCKED/

/** A job whose lock expired was given to another worker, which finds its work taken or done. */
const LOCK_LOST = /\block for job\b|Missing (lock|key) for job/i

/** Logs the errors of a queue or a worker of BullMQ, which would end the process if nobody listened. Returns it. */
export function reportErrors<T extends ErrorSource>(source: T, what: string, outage: Outage, log: Logger): T {
  let last = { reason: '', atMs: Number.NEGATIVE_INFINITY }
  source.on('error', error => {
    const reason = reasonOf(error)
    if (isTransient(error) || adviceOnReply(reason) || TURNED_REPLICA.test(reason))
      return outage.begins(what, error)
    const isNews = !LOCK_LOST.test(reason) && !outage.lasts(what)
    const again = reason === last.reason && performance.now() - last.atMs < SAME_ERROR_MS
    log[isNews && !again ? 'warn' : 'debug']({ what, error: reason }, 'The queue reports an error.')
    last = { reason, atMs: performance.now() }
  })
  return source
}
