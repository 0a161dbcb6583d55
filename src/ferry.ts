import { randomBytes } from 'node:crypto'
import { flushCompileCache } from 'node:module'
import { hostname } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { type FerryAccount, limitsOf, openAccounts } from '#src/ferry/accounts.ts'
import { createKnownRows } from '#src/inventory/read/known-rows.ts'
import type { Call, Operation } from '#src/model/call.ts'
import type { Config } from './config.ts'
import { createThrottle } from './db/call-log.ts'
import { type NoticeContext, noticeDatabase, OwnCall } from './db/known-database.ts'
import { type ClosedLimit, findClosedLimit } from './db/limits.ts'
import { migrate, type SchemaPolicy } from './db/migrate.ts'
import { openDatabase, poolSizeOf } from './db/pool.ts'
import { reachPostgres } from './db/reach-postgres.ts'
import { retryTransient } from './db/retry.ts'
import { openEmbeddedPostgres } from './embedded/postgres.ts'
import type { ImportContext } from './imports/context.ts'
import { holdImports } from './imports/sending/hold-imports.ts'
import type { InventoryContext } from './inventory/context.ts'
import type { CallObserver } from './model/call.ts'
import { changeInWords, type DatabaseChange } from './model/database-change.ts'
import type { Limit } from './model/limit.ts'
import { createWorkLimit } from './model/work-limit.ts'
import { OPERATIONS } from './platform/operations.ts'
import type { Throttle } from './platform/throttle.ts'
import type { BackendSettings } from './queue/backend.ts'

/*
 * Builds what every command and every worker needs, and closes it in the reverse order:
 *
 *     config ─► Postgres (embedded or given) ─► migrations ─► pool ─► throttle ─► a platform client for each account
 *
 * Only here do the rooms `platform` and `db` meet: `platform` asks for a throttle, `db` implements it.
 */

export type Ferry = Omit<InventoryContext & ImportContext, 'accounts'> &
  Pick<Config, 'pollEveryMs' | 'mcpPollEveryMs' | 'nightlyCron' | 'timezone' | 'catchUpMs' | 'retention'> &
  AsyncDisposable & {
    readonly config: Config
    readonly accounts: ReadonlyMap<string, FerryAccount>
    readonly throttle: Throttle
    /** The limits of all accounts, each with its operation. Accounts may share one. */
    readonly limits: readonly (Limit & { readonly operation: Operation })[]
    /** Returns the limit of an operation that the platform has closed with a 429, or null if it is open. */
    findClosedLimit(account: string, operation: Operation): Promise<ClosedLimit | null>
    limitOf(account: string, operation: Operation): Limit
    /** Where the queue lives. Holds passwords: never log it. */
    readonly backend: BackendSettings
    /** How many migrations ran when this was opened. */
    readonly migrated: number
    /** How the embedded Postgres runs, in words for people; null if `DATABASE_URL` is set. */
    readonly embedded: string | null
    /** Resolves if the embedded Postgres ends while it is in use: an error that says what to do. */
    readonly postgresEnded: Promise<Error>
  }

export type OpenOptions = {
  readonly log: Logger
  readonly signal: AbortSignal
  /** How long to keep trying while Postgres does not answer. */
  readonly retryForMs?: number
  /** The changes to the schema that are allowed; `create` by default. */
  readonly schema?: SchemaPolicy
  readonly observer?: CallObserver | undefined
  /** A statement fails if it has no answer within this time; by default without a limit. */
  readonly answerWithinMs?: number
}

/** Long enough for a restart of Postgres. */
const RETRY_FOR_MS = 3_000

/**
 * Opens everything. Throws `PostgresUnusable`, `PostgresNotRunning`, `PostgresBinariesMissing`, `DataDirUnusable`,
 * `NoPostgresYet` (if the schema may only be read), and what `migrate` throws.
 */
export async function openFerry(config: Config, options: OpenOptions): Promise<Ferry> {
  const { log, observer } = options
  keepRowsYoung()
  await using opened = new AsyncDisposableStack()
  const { pool, ...store } = await openStore(config, options, opened)
  const limitOf = limitsOf(config.accounts)
  const limits = config.accounts.flatMap(({ name }) =>
    (Object.keys(OPERATIONS) as Operation[]).map(operation => ({ operation, ...limitOf(name, operation) })),
  )
  const ownCall = new OwnCall()
  const { arrivalBoundMs } = config
  const noticeDatabase = noticeOf(pool, { ownCall, limits, arrivalBoundMs, holdImports }, log)
  const throttle = createThrottle(pool, {
    limitOf,
    arrivalBoundMs,
    ownCall,
    onClosed: warningOfClosed(log),
    noticeDatabase,
  })
  const accounts = openAccounts(config, { throttle, limitOf, log, observer }, opened)

  const kept = opened.move()
  return {
    config,
    pool,
    throttle,
    limits,
    ownCall,
    noticeDatabase,
    observer,
    limitOf,
    findClosedLimit: (account, operation) =>
      findClosedLimit(pool, limitOf(account, operation).limitKey, operation),
    accounts,
    arrivalBoundMs,
    requestTimeoutMs: config.requestTimeoutMs,
    removalGuard: config.removalGuard,
    limitWork: createWorkLimit(config.workerConcurrency),
    limitLongWork: createWorkLimit(config.workerConcurrency),
    knownRows: createKnownRows(config.knownRows),
    holder: `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`,
    log,
    pollEveryMs: config.pollEveryMs,
    mcpPollEveryMs: config.mcpPollEveryMs,
    nightlyCron: config.nightlyCron,
    timezone: config.timezone,
    catchUpMs: config.catchUpMs,
    retention: config.retention,
    backend: {
      databaseUrl: store.databaseUrl,
      databasePassword: store.secret,
      redisUrl: config.redisUrl,
      redisPassword: config.redisPassword,
    },
    migrated: store.migrated,
    embedded: store.embedded,
    postgresEnded: store.postgresEnded,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Opens Postgres with the schema that this version needs. */
async function openStore(config: Config, options: OpenOptions, opened: AsyncDisposableStack) {
  const { log, signal, retryForMs = RETRY_FOR_MS, schema = 'create', answerWithinMs } = options
  const retry = { retryForMs, signal }
  const { databaseUrl, secret, reached, setting, embedded, postgresEnded } = await openPostgres(
    config,
    { log, ...retry, create: schema === 'create' || schema === 'update' },
    opened,
  )
  let connected = reached
  const migrated = await retryTransient(() => {
    const first = connected
    connected = undefined
    return migrate(databaseUrl, schema, { secret, signal, connected: first })
  }, retry)
  const poolSize = poolSizeOf(config.workerConcurrency)
  const { pool } = opened.use(openDatabase(databaseUrl, log, { setting, secret, poolSize, answerWithinMs }))
  // The roles that only read have no rights yet to what a migration made.
  if (migrated > 0) {
    const { prepareReader } = await import('./reports/reader-role.ts')
    const { refreshAccountReaders } = await import('./reports/account-readers.ts')
    await retryTransient(() => prepareReader(pool), retry)
    for (const { role, status } of await retryTransient(() => refreshAccountReaders(pool), retry)) {
      if (status !== 'ready')
        log.warn(
          { role },
          'The schema of this role is not up to date: run `ferry migrate` as the owner of the database.',
        )
    }
  }
  return { pool, databaseUrl, secret, migrated, embedded, postgresEnded }
}

/** Returns what notices another database, and says so once. */
function noticeOf(pool: Pool, context: NoticeContext, log: Logger): () => Promise<DatabaseChange | null> {
  return async () => {
    const change = await retryTransient(() => noticeDatabase(pool, context))
    if (change) {
      log.warn(
        { cause: change.cause, missingSince: change.missingSince },
        `${changeInWords(change)} Imports are held for a person; \`ferry doctor\` says what to do.`,
      )
    }
    return change
  }
}

function warningOfClosed(log: Logger) {
  return ({ account, operation }: Call, { until, requestId, hasRefused }: ClosedLimit) => {
    const why = hasRefused ? 'The platform answers 429 (too many calls)' : 'Another database was noticed'
    log.warn(
      { account, operation, until: until.toISOString(), requestId },
      `${why}; calls of this operation wait until then.`,
    )
  }
}

/** Ferry cannot tell when a Postgres ends that it did not start. */
const NEVER = new Promise<never>(() => {})

/** Waits for the Postgres of `DATABASE_URL`, or starts the embedded one. */
async function openPostgres(
  config: Config,
  options: { log: Logger; retryForMs: number; signal: AbortSignal; create: boolean },
  opened: AsyncDisposableStack,
) {
  const { databaseUrl, databasePassword: secret, dataDir } = config
  if (databaseUrl !== null) {
    const reached = await reachPostgres(databaseUrl, { ...options, secret })
    return { databaseUrl, secret, reached, setting: 'DATABASE_URL', embedded: null, postgresEnded: NEVER }
  }
  const { log, create, signal } = options
  const postgres = opened.use(await openEmbeddedPostgres({ dataDir, log, create, signal }))
  const { url, how, ended } = postgres
  return {
    databaseUrl: url,
    secret: null,
    setting: 'embedded, in FERRY_DATA_DIR',
    embedded: how,
    postgresEnded: ended,
  }
}

/**
 * V8 would put what is like objects that lived a little longer, as rows do until they are written, among the old ones. There it
 * keeps alive whatever it refers to until all memory is looked through: a first sync would take a tenth more time.
 */
function keepRowsYoung(): void {
  flushCompileCache() // what is compiled under other flags is compiled anew
  setFlagsFromString('--no-allocation-site-pretenuring')
}
