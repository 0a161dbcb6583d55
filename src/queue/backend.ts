import {
  assertSchemaCompatibility,
  createPostgresBackend,
  createRedisBackend,
  LATEST_SCHEMA_VERSION,
  type Processor,
  Queue,
  runMigrations,
  SchemaMigrationRequiredError,
  Worker,
} from 'bullmq'
import { Client } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { placeOf } from '#src/store/place.ts'
import type { Bell, ImportBell } from './job.ts'
import { createOutage, type Outage } from './outage.ts'
import { withBackOff } from './patient-backend.ts'
import { type AnyQueue, openProducer, type Producer } from './producer.ts'
import { adviceOnReply, hostOf } from './redis.ts'

/*
 * Where the queue lives: in Redis if there is one, else in Ferry's own Postgres. Nothing else knows which it is.
 */

export type BackendSettings = {
  /** Of a session, not of a pooler: the queue in Postgres listens for notifications. */
  readonly databaseUrl: string
  /** Null: the queue lives in Postgres. */
  readonly redisUrl: string | null
}

export type QueueBackend = {
  readonly outage: Outage
  /** Answers soon, whether the queue is in reach or not, and works again once it is back. */
  openQueue<Name extends QueueName>(name: Name): Producer<Payloads[Name]>
  /** A worker that has yet to become ready, and to run. It takes `concurrency` jobs at once. */
  openWorker<Name extends QueueName>(
    name: Name,
    answer: Answerer<Payloads[Name]>,
    concurrency: number,
  ): BellWorker
}

/** What travels through each queue. Two in all, however many accounts: every queue costs connections. */
type Payloads = { readonly sync: Bell; readonly import: ImportBell }
export type QueueName = keyof Payloads
export const QUEUE_NAMES: readonly QueueName[] = ['sync', 'import']

export type Answerer<Payload> = Processor<Payload, void, string>

export type BellWorker = Pick<
  Worker<unknown, void, string>,
  'cancelAllJobs' | 'close' | 'pause' | 'run' | 'waitUntilReady'
>

/** The events of the queue are read by nobody; BullMQ would keep 10,000. */
const FEW_EVENTS = { events: { maxLen: 100 } }

/** BullMQ's own pause after a connection was refused, besides the one of `withBackOff`. */
const RUN_RETRY_MS = 1_000

/** The same trouble again within this time is no news. */
const SAME_TROUBLE_MS = 600_000

export const SCHEMA = 'ferry_queue'

/** Brings the queue's own tables up to date, if it lives in Postgres. Safe from any number of processes at once. */
export async function migrateQueue({ databaseUrl, redisUrl }: BackendSettings): Promise<void> {
  if (redisUrl) return
  await withClient(databaseUrl, async client => {
    // Asking first needs no right to create; `runMigrations` does, even with nothing to do.
    const version = await assertSchemaCompatibility(client, SCHEMA).catch(error => {
      if (error instanceof SchemaMigrationRequiredError) return 0
      throw error
    })
    if (version < LATEST_SCHEMA_VERSION) await runMigrations(client, SCHEMA)
    // BullMQ makes a sequence at the first job of a queue. The role that adds it may have no right to create.
    await client.query(
      `select ${SCHEMA}.next_job_id(name) from unnest($1::text[]) as queues (name)
       where to_regclass('${SCHEMA}.' || quote_ident(${SCHEMA}.job_id_seq_name(name))) is null`,
      [QUEUE_NAMES],
    )
  })
}

export type OpenSettings = BackendSettings & { readonly installation: string; readonly log: Logger }

/** Chooses Redis or Postgres. Connects to nothing yet. */
export function openBackend(settings: OpenSettings): QueueBackend {
  const { log } = settings
  const outage = createOutage(log, whereIs(settings))
  const from =
    settings.redisUrl === null ? inPostgres(settings.databaseUrl) : inRedis(settings.redisUrl, settings)
  return {
    outage,
    openQueue<Name extends QueueName>(name: Name) {
      const open = () => reporting(from.openQueue(name), `${name}: add`, outage, log)
      return openProducer<Payloads[Name]>(name, open, outage)
    },
    openWorker<Name extends QueueName>(name: Name, answer: Answerer<Payloads[Name]>, concurrency: number) {
      const worker = from.openWorker(name, answer as Answerer<unknown>, concurrency, outage)
      return reporting(worker, `${name}: fetch`, outage, log)
    },
  }
}

function whereIs({ redisUrl, databaseUrl }: BackendSettings): string {
  return redisUrl === null
    ? `Postgres at ${placeOf(databaseUrl)}`
    : `Redis at ${hostOf(redisUrl)} (REDIS_URL)`
}

/** BullMQ's own queue, for what Ferry does not do in its daily work: checks and tests. */
export function openRawQueue(settings: Omit<OpenSettings, 'log'>, name: QueueName): AnyQueue {
  const { databaseUrl, redisUrl } = settings
  return (redisUrl === null ? inPostgres(databaseUrl) : inRedis(redisUrl, settings)).openQueue(name)
}

/** The connections a worker's queues take at most. */
export function connectionBudget({ redisUrl }: BackendSettings): {
  readonly postgres: number
  readonly redis: number
} {
  const queues = QUEUE_NAMES.length
  return redisUrl
    ? { postgres: 0, redis: 3 * queues }
    : { postgres: (PRODUCER_POOL + WORKER_POOL + 1) * queues, redis: 0 }
}

type Kind = {
  openQueue(name: QueueName): AnyQueue
  openWorker(
    name: QueueName,
    answer: Answerer<unknown>,
    concurrency: number,
    outage: Outage,
  ): BellWorker & { on(event: 'error', listener: (error: Error) => void): unknown }
}

/** All keys of one installation begin with this. In braces, so that they are in one place even in a cluster. */
export function prefixOf(installation: string): string {
  return `{ferry:${installation}}`
}

/** A connection that does not answer is dead: longer than BullMQ ever waits for a job. */
const SILENT_MS = 20_000

function inRedis(url: string, { installation }: { readonly installation: string }): Kind {
  const prefix = prefixOf(installation)
  const connection = {
    url,
    socketTimeout: SILENT_MS,
    keepAlive: 10_000,
    // After a failover the master is elsewhere: the name of REDIS_URL is looked up anew.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  }
  return {
    openQueue: name =>
      new Queue(
        name,
        { connection: { ...connection, maxRetriesPerRequest: 1 }, prefix, streams: FEW_EVENTS },
        createRedisBackend,
      ),
    openWorker: (name, answer, concurrency, outage) =>
      new Worker(
        name,
        answer,
        {
          connection: { ...connection, maxRetriesPerRequest: null },
          prefix,
          autorun: false,
          concurrency,
          runRetryDelay: RUN_RETRY_MS,
        },
        withBackOff(createRedisBackend, outage),
      ),
  }
}

const PRODUCER_POOL = 1
/** Besides one connection that listens. All jobs of a worker share these: what the queue asks is short. */
const WORKER_POOL = 2

function inPostgres(url: string): Kind {
  const connectionOf = (max: number) => ({
    connectionString: url,
    schema: SCHEMA,
    max,
    application_name: 'ferry queue',
    connectionTimeoutMillis: 10_000,
    options: '-c default_transaction_isolation=read\\ committed',
    query_timeout: SILENT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  })
  return {
    openQueue: name =>
      new Queue(
        name,
        { connection: connectionOf(PRODUCER_POOL), streams: FEW_EVENTS },
        createPostgresBackend,
      ),
    openWorker: (name, answer, concurrency, outage) =>
      new Worker(
        name,
        answer,
        {
          connection: connectionOf(WORKER_POOL),
          autorun: false,
          concurrency,
          runRetryDelay: RUN_RETRY_MS,
        },
        withBackOff(createPostgresBackend, outage),
      ),
  }
}

/** What Redis answers to whoever waits for a job while it is made a replica. */
const TURNED_REPLICA = /^UNBLOCKED/

/** Without a listener an error would end the process. */
function reporting<T extends { on(event: 'error', listener: (error: Error) => void): unknown }>(
  source: T,
  what: string,
  outage: Outage,
  log: Logger,
): T {
  let last = { reason: '', at: Number.NEGATIVE_INFINITY }
  source.on('error', error => {
    const reason = reasonOf(error)
    if (isConnectionLost(error) || adviceOnReply(reason) || TURNED_REPLICA.test(reason))
      return outage.begins(what, error)
    // A job whose lock ran out was handed to another worker, which finds its work taken or done.
    const isNews = !/\block for job\b|Missing (lock|key) for job/i.test(reason) && !outage.lasts(what)
    const again = reason === last.reason && performance.now() - last.at < SAME_TROUBLE_MS
    log[isNews && !again ? 'warn' : 'debug']({ what, error: reason }, 'The queue reports trouble.')
    last = { reason, at: performance.now() }
  })
  return source
}

/** Also that there are too many connections already. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return /^(E[A-Z_]+|08...|53300|57P..)$/.test(code) || /connection|socket/i.test(error.message)
}

export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    application_name: 'ferry queue',
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
