import {
  assertSchemaCompatibility,
  createPostgresBackend,
  LATEST_SCHEMA_VERSION,
  Queue,
  runMigrations,
  SchemaMigrationRequiredError,
  Worker,
} from 'bullmq'
import { Client, DatabaseError } from 'pg'
import { z } from 'zod'
import { findValue } from '#src/db/rows.ts'
import { askForPassword, type ConnectionConfig } from '#src/db/watched-client.ts'
import { connectWithinMs } from '#src/model/postgres-address.ts'
import type { Secret } from '#src/model/secret.ts'
import { withBackOff } from './back-off.ts'
import { FEW_EVENTS, type QueueKind, RUN_RETRY_MS, SILENT_MS } from './kind.ts'
import { QUEUE_NAMES } from './messages.ts'
import { QueueHasNoTables, QueueRefused } from './refused.ts'

const SCHEMA = 'ferry_queue'

const PRODUCER_POOL = 1
/** Besides one connection that listens. All jobs of a worker share these: what the queue asks is short. */
const WORKER_POOL = 2

/**
 * How long a worker without jobs waits before it tries to fetch one anyway. Meanwhile it looks every few seconds
 * whether there is one, which takes half as many statements.
 */
const DRAIN_S = 60

/** The connections each queue of a worker takes at most. */
export const POSTGRES_CONNECTIONS = PRODUCER_POOL + WORKER_POOL + 1

/** Where the tables of the queue are. */
export type QueueDatabase = {
  /** Of a session, not of a pooler: the queue listens for notifications. */
  readonly databaseUrl: string
  /** The password, if the address does not contain it. */
  readonly databasePassword?: Secret | null
}

export function connectionTo({ databaseUrl, databasePassword: secret }: QueueDatabase) {
  return {
    connectionString: databaseUrl,
    secret,
    application_name: 'ferry queue',
    connectionTimeoutMillis: connectWithinMs(databaseUrl),
  }
}

/** Queues in Postgres, in a schema of their own. */
export function inPostgres(database: QueueDatabase): QueueKind {
  const connectionOf = (max: number) => ({
    ...connectionTo(database),
    schema: SCHEMA,
    max,
    options: '-c default_transaction_isolation=read\\ committed',
    query_timeout: SILENT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    Client: QuietClient,
  })
  return {
    openQueue: name =>
      new Queue(name, { connection: connectionOf(PRODUCER_POOL), streams: FEW_EVENTS }, createQuietBackend),
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
        withBackOff(createQuietBackend, outage),
      ),
  }
}

/**
 * A client whose connection may be lost at any moment: the statement in flight fails, and so does the next one. BullMQ has
 * no listener for errors between two statements and before it listens; there a lost connection would end the process.
 */
class QuietClient extends Client {
  constructor(config: ConnectionConfig = {}) {
    super(config)
    askForPassword(this, config)
    this.on('error', ignore)
  }

  override removeAllListeners(event?: string | symbol): this {
    return super.removeAllListeners(event).on('error', ignore)
  }
}

function ignore(): void {}

/** BullMQ takes the class of the connection that listens from the module that it has loaded, not from its options. */
const createQuietBackend: typeof createPostgresBackend = (name, options, more) => {
  const backend = createPostgresBackend(name, options, more)
  Object.assign(backend.connection, { pgModule: { Client: QuietClient } })
  return backend
}

/** BullMQ makes its tables under an advisory lock. Others that do so need it for less than a second. */
const LOCK_WITHIN_MS = 10_000
const LOCK_NOT_AVAILABLE = '55P03'

/** Brings the queue's tables up to date. Safe from any number of processes at once. Throws `QueueRefused`. */
export async function migrateTables(database: QueueDatabase): Promise<void> {
  await withClient(database, client => migrateWith(client).catch(error => explainLock(client, error)))
}

async function migrateWith(client: Client): Promise<void> {
  // Asking first needs no right to create; `runMigrations` does, even with nothing to do.
  const version = await assertSchemaCompatibility(client, SCHEMA).catch(error => {
    if (error instanceof SchemaMigrationRequiredError) return 0
    throw error
  })
  await client.query(`set lock_timeout = ${LOCK_WITHIN_MS}`)
  if (version < LATEST_SCHEMA_VERSION) await runMigrations(client, SCHEMA)
  // BullMQ makes a sequence at the first job of a queue. The role that adds it may have no right to create.
  await client.query(
    `select ${SCHEMA}.next_job_id(name) from unnest($1::text[]) as queues (name)
     where to_regclass('${SCHEMA}.' || quote_ident(${SCHEMA}.job_id_seq_name(name))) is null`,
    [QUEUE_NAMES],
  )
}

/** Any role that can connect can hold an advisory lock, for any time. */
async function explainLock(client: Client, error: unknown): Promise<never> {
  if (!(error instanceof DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error
  const pids = await findValue(
    client,
    z.string(),
    `select coalesce(string_agg(distinct pid::text, ', '), 'none') from pg_locks
     where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`,
  )
  throw new QueueRefused(
    `The queue's tables cannot be made or changed: another session has held a lock of the queue for ${LOCK_WITHIN_MS / 1000} s. ` +
      `Sessions that hold such a lock now: ${pids}. End the one that is not Ferry's, as its user or as a ` +
      'superuser: `select pg_terminate_backend(PID)`. docs/operators.md, "The role that Ferry works as", has the SQL that keeps ' +
      'others from such locks.',
    { mayPass: true, cause: error },
  )
}

/** Returns where the tables are and their version, in words. Throws `QueueHasNoTables` if `migrateTables` has to run first. */
export async function describeTables(database: QueueDatabase): Promise<string> {
  const version = await withClient(database, client => assertSchemaCompatibility(client, SCHEMA)).catch(
    error => {
      if (!(error instanceof SchemaMigrationRequiredError)) throw error
      throw new QueueHasNoTables('The queue has no tables in this database yet. Run `ferry migrate`.', {
        cause: error,
      })
    },
  )
  return `in Postgres, schema ${SCHEMA}, version ${version}`
}

async function withClient<T>(database: QueueDatabase, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new QuietClient(connectionTo(database))
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
