import {
  assertSchemaCompatibility,
  createPostgresBackend,
  LATEST_SCHEMA_VERSION,
  Queue,
  runMigrations,
  SchemaMigrationRequiredError,
  Worker,
} from 'bullmq'
import { Client } from 'pg'
import { withBackOff } from './back-off.ts'
import { FEW_EVENTS, type QueueKind, RUN_RETRY_MS, SILENT_MS } from './kind.ts'
import { QUEUE_NAMES } from './messages.ts'
import { QueueHasNoTables } from './refused.ts'

const SCHEMA = 'ferry_queue'

const PRODUCER_POOL = 1
/** Besides one connection that listens. All jobs of a worker share these: what the queue asks is short. */
const WORKER_POOL = 2

/**
 * How long a worker without jobs waits before it tries to fetch one all the same. Meanwhile it looks every few seconds
 * whether there is one, which takes half as many statements.
 */
const DRAIN_S = 60

/** The connections each queue of a worker takes at most. */
export const POSTGRES_CONNECTIONS = PRODUCER_POOL + WORKER_POOL + 1

/** Queues in Postgres, in a schema of their own. */
export function inPostgres(url: string): QueueKind {
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
    openWorker: (name, process, concurrency, outage) =>
      new Worker(
        name,
        process,
        {
          connection: connectionOf(WORKER_POOL),
          autorun: false,
          concurrency,
          runRetryDelay: RUN_RETRY_MS,
          drainDelay: DRAIN_S,
        },
        withBackOff(createPostgresBackend, outage),
      ),
  }
}

/** Brings the queue's tables up to date. Safe from any number of processes at once. */
export async function migrateTables(databaseUrl: string): Promise<void> {
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

/** Returns where the tables are and their version, in words. Throws `QueueHasNoTables` if `migrateTables` has to run first. */
export async function describeTables(databaseUrl: string): Promise<string> {
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

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
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
