import {
  assertSchemaCompatibility,
  createPostgresBackend,
  createRedisBackend,
  type JobsOptions,
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
import type { Bell, ImportBell } from './job.ts'
import { expectSessions } from './pooler.ts'
import { checkRedis, QueueRefused } from './redis.ts'

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
  /** Fails soon if the queue is out of reach, and works again once it is back. */
  openQueue<Name extends QueueName>(name: Name): BellQueue<Payloads[Name]>
  /** Waits as long as it takes for a queue that is out of reach. Begins with `run`. */
  openWorker<Name extends QueueName>(name: Name, answer: Answerer<Payloads[Name]>): BellWorker
}

/** What travels through each queue. Two in all, however many accounts: every queue costs connections. */
type Payloads = { readonly sync: Bell; readonly import: ImportBell }
export type QueueName = keyof Payloads

export type Answerer<Payload> = Processor<Payload, void, string>

export type BellQueue<Payload = Bell> = Pick<
  Queue<Bell, void, string>,
  | 'close'
  | 'getJobScheduler'
  | 'getJobSchedulers'
  | 'getJobSchedulersCount'
  | 'getWaitingCount'
  | 'removeJobScheduler'
  | 'upsertJobScheduler'
> & { add(name: string, payload: Payload, options: JobsOptions): Promise<unknown> }

export type BellWorker = Pick<
  Worker<unknown, void, string>,
  'cancelAllJobs' | 'close' | 'pause' | 'run' | 'waitUntilReady'
>

/** Several accounts, or imports, side by side; each is bound by the platform's answers, not by this machine. */
const CONCURRENCY = 4

/** The events of the queue are read by nobody; BullMQ would keep 10,000. */
const FEW_EVENTS = { events: { maxLen: 100 } }

/** While the queue is out of reach, each attempt to reach it fails alike: one line is enough. */
const SAME_TROUBLE_MS = 60_000

const SCHEMA = 'ferry_queue'

/** The queue lives in Postgres, and was not made there yet. Under the same name as any other refusal. */
export class QueueHasNoTables extends QueueRefused {}

/** Says where the queue lives and what of it was checked, in words. Throws `QueueRefused`. */
export async function checkQueue({ databaseUrl, redisUrl }: BackendSettings): Promise<string> {
  if (redisUrl) return checkRedis(redisUrl)
  await expectSessions(databaseUrl)
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
  })
}

/** Chooses Redis or Postgres and checks that it will do. Throws `QueueRefused`. */
export async function openBackend(
  settings: BackendSettings & { readonly installation: string; readonly log: Logger },
): Promise<QueueBackend> {
  const found = await checkQueue(settings)
  settings.log.debug({ queue: found }, 'the queue was checked')
  return settings.redisUrl
    ? redisBackend(settings.redisUrl, settings.installation, settings.log)
    : postgresBackend(settings.databaseUrl, settings.log)
}

/** The connections a worker's queues take at most. */
export function connectionBudget({ redisUrl }: BackendSettings): {
  readonly postgres: number
  readonly redis: number
} {
  return redisUrl
    ? { postgres: 0, redis: 3 * QUEUES }
    : { postgres: (PRODUCER_POOL + WORKER_POOL + 1) * QUEUES, redis: 0 }
}

function redisBackend(url: string, installation: string, log: Logger): QueueBackend {
  // In braces, so that a Redis Cluster keeps all of one installation in one place.
  const prefix = `{ferry:${installation}}`
  return {
    openQueue<Name extends QueueName>(name: Name) {
      const connection = { url, maxRetriesPerRequest: 1 }
      const options = { connection, prefix, streams: FEW_EVENTS }
      return reporting(new Queue(name, options, createRedisBackend), log)
    },
    openWorker<Name extends QueueName>(name: Name, answer: Answerer<Payloads[Name]>) {
      const connection = { url, maxRetriesPerRequest: null }
      const options = { connection, prefix, autorun: false, concurrency: CONCURRENCY }
      return reporting(new Worker(name, answer, options, createRedisBackend), log)
    },
  }
}

const QUEUES = 2
const PRODUCER_POOL = 1
/** Besides one connection that listens. Four jobs at once share these: what the queue asks is short. */
const WORKER_POOL = 2

function postgresBackend(url: string, log: Logger): QueueBackend {
  const connectionOf = (max: number) => ({
    connectionString: url,
    schema: SCHEMA,
    max,
    application_name: 'ferry queue',
    connectionTimeoutMillis: 10_000,
    options: '-c default_transaction_isolation=read\\ committed',
  })
  return {
    openQueue<Name extends QueueName>(name: Name) {
      const options = { connection: connectionOf(PRODUCER_POOL), streams: FEW_EVENTS }
      return reporting(new Queue(name, options, createPostgresBackend), log)
    },
    openWorker<Name extends QueueName>(name: Name, answer: Answerer<Payloads[Name]>) {
      const options = { connection: connectionOf(WORKER_POOL), autorun: false, concurrency: CONCURRENCY }
      return reporting(new Worker(name, answer, options, createPostgresBackend), log)
    },
  }
}

/** Without a listener an error would end the process. */
function reporting<T extends { on(event: 'error', listener: (error: Error) => void): unknown }>(
  source: T,
  log: Logger,
): T {
  let last = { reason: '', at: 0 }
  source.on('error', error => {
    const reason = reasonOf(error)
    const again = reason === last.reason && performance.now() - last.at < SAME_TROUBLE_MS
    log[again ? 'debug' : 'warn']({ error: reason }, 'the queue has trouble')
    last = { reason, at: performance.now() }
  })
  return source
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: 'ferry queue' })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
