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
import type { Bell } from './job.ts'
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
  openQueue(): BellQueue
  /** Waits as long as it takes for a queue that is out of reach. Begins with `run`. */
  openWorker(answer: Processor<Bell, void, string>): BellWorker
}

export type BellQueue = Pick<
  Queue<Bell, void, string>,
  | 'add'
  | 'close'
  | 'getJobScheduler'
  | 'getJobSchedulers'
  | 'getJobSchedulersCount'
  | 'removeJobScheduler'
  | 'upsertJobScheduler'
>

export type BellWorker = Pick<
  Worker<Bell, void, string>,
  'cancelAllJobs' | 'close' | 'pause' | 'run' | 'waitUntilReady'
>

/** Syncs of several accounts side by side; each is bound by the platform's answers, not by this machine. */
const CONCURRENCY = 4

/** The events of the queue are read by nobody; BullMQ would keep 10,000. */
const FEW_EVENTS = { events: { maxLen: 100 } }

/** While the queue is out of reach, each attempt to reach it fails alike: one line is enough. */
const SAME_TROUBLE_MS = 60_000

const NAME = 'sync'
const SCHEMA = 'ferry_queue'

/** Says where the queue lives and what of it was checked, in words. Throws `QueueRefused`. */
export async function checkQueue({ databaseUrl, redisUrl }: BackendSettings): Promise<string> {
  if (redisUrl) return checkRedis(redisUrl)
  const version = await withClient(databaseUrl, client => assertSchemaCompatibility(client, SCHEMA)).catch(
    error => {
      if (!(error instanceof SchemaMigrationRequiredError)) throw error
      throw new QueueRefused('The queue has no tables in this database yet. Run `ferry migrate`.', {
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

/** The connections a worker's queue takes at most. */
export function connectionBudget({ redisUrl }: BackendSettings): {
  readonly postgres: number
  readonly redis: number
} {
  return redisUrl ? { postgres: 0, redis: 3 } : { postgres: PRODUCER_POOL + WORKER_POOL + 1, redis: 0 }
}

function redisBackend(url: string, installation: string, log: Logger): QueueBackend {
  // In braces, so that a Redis Cluster keeps all of one installation in one place.
  const prefix = `{ferry:${installation}}`
  return {
    openQueue() {
      const connection = { url, maxRetriesPerRequest: 1 }
      const queue = new Queue<Bell, void, string>(
        NAME,
        { connection, prefix, streams: FEW_EVENTS },
        createRedisBackend,
      )
      return reporting(queue, log)
    },
    openWorker(answer) {
      const connection = { url, maxRetriesPerRequest: null }
      const options = { connection, prefix, autorun: false, concurrency: CONCURRENCY }
      return reporting(new Worker<Bell, void, string>(NAME, answer, options, createRedisBackend), log)
    },
  }
}

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
  })
  return {
    openQueue() {
      const connection = connectionOf(PRODUCER_POOL)
      return reporting(new Queue(NAME, { connection, streams: FEW_EVENTS }, createPostgresBackend), log)
    },
    openWorker(answer) {
      const options = { connection: connectionOf(WORKER_POOL), autorun: false, concurrency: CONCURRENCY }
      return reporting(new Worker(NAME, answer, options, createPostgresBackend), log)
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
