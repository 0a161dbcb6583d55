import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { openEmbeddedPostgres } from './embedded/postgres.ts'
import { limitsOf } from './ferry/limits.ts'
import { explainRights, reachPostgres } from './ferry/reach-postgres.ts'
import type { ImportAccount, ImportContext } from './imports/context.ts'
import type { InventoryAccount } from './inventory/context.ts'
import { createWorkLimit } from './model/work-limit.ts'
import { openPlatformClient } from './platform/client.ts'
import type { Operation } from './platform/operations.ts'
import type { Throttle } from './platform/throttle.ts'
import type { BackendSettings } from './queue/backend.ts'
import type { JobContext } from './queue/job.ts'
import { openDatabase, poolSizeOf } from './store/database.ts'
import { migrate, type SchemaPolicy } from './store/migrate.ts'
import { patiently } from './store/patience.ts'
import { openThrottle } from './store/throttle.ts'

/*
 * Builds what every command and every worker needs, and takes it down again in the reverse order:
 *
 *     Postgres (embedded, or waited for) ─► migrations ─► pool ─► throttle ─► a platform client per account
 *
 * Here alone the platform and the store meet: the throttle is asked for by the one and implemented by the other.
 */

export type Ferry = JobContext &
  ImportContext &
  AsyncDisposable & {
    readonly config: Config
    readonly throttle: Throttle
    readonly limitOf: ReturnType<typeof limitsOf>
    /** Where the queue lives. Holds passwords: not for logs. */
    readonly backend: BackendSettings
    /** How many migrations ran at this opening. */
    readonly migrated: number
    /** In plain words how the embedded Postgres runs; null if it is somebody else's. */
    readonly embedded: string | null
  }

export type OpenOptions = {
  readonly log: Logger
  readonly signal: AbortSignal
  /** How long a Postgres that does not answer is waited for. */
  readonly patienceMs?: number
  /** What may be done to the schema; `create` unless said otherwise. */
  readonly schema?: SchemaPolicy
}

/** Enough for a Postgres that is being restarted. */
const PATIENCE_MS = 3_000

/**
 * Opens everything. Throws `PostgresUnusable`, `PostgresNotRunning`, `PostgresBinariesMissing`, `DatabaseIsNewer`,
 * `SchemaIsOlder`, and to `read` also `NoPostgresYet` or `SchemaMissing`.
 */
export async function openFerry(config: Config, options: OpenOptions): Promise<Ferry> {
  const { log, signal, patienceMs = PATIENCE_MS, schema = 'create' } = options
  await using opened = new AsyncDisposableStack()

  const postgres = await openPostgres(config, { log, patienceMs, signal, create: schema !== 'read' }, opened)
  const { databaseUrl, setting, embedded } = postgres
  const migrated = await patiently(() => migrate(databaseUrl, schema, { signal }), {
    patienceMs,
    signal,
  }).catch(explainRights(databaseUrl))
  const { pool } = opened.use(
    openDatabase(databaseUrl, log, { setting, poolSize: poolSizeOf(config.workerConcurrency) }),
  )

  const limitOf = limitsOf(config.accounts)
  const throttle = openThrottle<Operation>(pool, {
    limitOf,
    arrivalBoundMs: config.arrivalBoundMs,
    onClosed({ account, operation }, { until, requestId }) {
      log.warn(
        { account, operation, until: until.toISOString(), requestId },
        'The platform answers 429 (too many calls); calls of this operation wait until then.',
      )
    },
  })
  const accounts = new Map<string, InventoryAccount & ImportAccount>()
  for (const account of config.accounts) {
    const client = opened.use(
      openPlatformClient({
        account: account.name,
        baseUrl: account.baseUrl,
        baseUrlSetting: account.baseUrlSetting,
        appKey: account.appKey,
        requestTimeoutMs: config.requestTimeoutMs,
        proxy: config.proxy,
        throttle,
        log,
      }),
    )
    const { name, folders, pageLimit, includeAccount, keyHash, limitGroup } = account
    const importLimit = limitOf(name, 'import-subscribers')
    accounts.set(name, {
      name,
      client,
      folders,
      pageLimit,
      includeAccount,
      keyHash,
      limitGroup,
      importLimit,
    })
  }

  const kept = opened.move()
  return {
    config,
    pool,
    throttle,
    limitOf,
    accounts,
    arrivalBoundMs: config.arrivalBoundMs,
    requestTimeoutMs: config.requestTimeoutMs,
    removalGuard: config.removalGuard,
    limitWork: createWorkLimit(config.workerConcurrency),
    holder: `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`,
    log,
    pollEveryMs: config.pollEveryMs,
    nightlyCron: config.nightlyCron,
    timezone: config.timezone,
    catchUpMs: config.catchUpMs,
    backend: { databaseUrl, redisUrl: config.redisUrl },
    migrated,
    embedded,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function openPostgres(
  config: Config,
  options: { log: Logger; patienceMs: number; signal: AbortSignal; create: boolean },
  opened: AsyncDisposableStack,
) {
  const { databaseUrl, dataDir } = config
  if (databaseUrl !== null) {
    await reachPostgres(databaseUrl, options)
    return { databaseUrl, setting: 'DATABASE_URL', embedded: null }
  }
  const { log, create } = options
  const postgres = opened.use(await openEmbeddedPostgres({ dataDir, log, create }))
  return { databaseUrl: postgres.url, setting: 'embedded, in FERRY_DATA_DIR', embedded: postgres.how }
}
