import type { Config } from '#src/config.ts'
import type { Ferry } from '#src/ferry.ts'
import type { Tokens } from '#src/http/console/access.ts'
import type { ConsoleTarget } from '#src/http/console/target.ts'
import type { HttpServer } from '#src/http/server.ts'
import type { Operation } from '#src/model/call.ts'
import type { ScheduleDefinition } from '#src/schedules/definition.ts'
import type { FerryWorker } from '#src/worker/worker.ts'
import type { CommandContext } from './command-context.ts'
import { UsageError } from './errors.ts'
import { collectGarbageLater } from './garbage.ts'
import { print, printAside } from './output.ts'

/** HTTP listens here unless `FERRY_HTTP_PORT` is set or another program does. */
const USUAL_PORT = 3377

export type HttpChoice = {
  readonly json?: true
  /** Whether HTTP and the console are on unless the settings say otherwise. */
  readonly usesHttp?: true
}

/**
 * Opens HTTP if a setting asks for it or the command does; on a free port if none is set and the usual one is taken. It
 * listens before Postgres is reached: a port that is taken is reported at once, and a probe sees a worker that starts.
 */
export async function openHttpIfOn(
  { config, log }: CommandContext,
  choice: HttpChoice,
  opened: AsyncDisposableStack,
): Promise<HttpServer | null> {
  const console = await consoleTokens(config, choice)
  const port = config.http.port ?? (choice.usesHttp || console ? USUAL_PORT : null)
  if (port === null) return null
  const { openHttp } = await import('#src/http/server.ts')
  const orFree = config.http.port === null
  const { operateToken, readToken } = config.http.console
  const isMade = console !== null && !operateToken && !readToken
  const metricsToken = config.http.metricsToken ?? (isMade ? console.operate : null)
  const http = opened.use(
    await openHttp({ ...config.http, port, orFree, metricsToken, console, signsInOnce: isMade, log }),
  )
  const say = choice.json ? printAside : print
  if (port !== 0 && !http.address.endsWith(`:${port}`)) {
    say(`Port ${port} is taken, so HTTP is at ${http.address}. Set FERRY_HTTP_PORT to choose a port.\n`)
  }
  const { isOn, obstacle } = config.http.console
  if (choice.usesHttp && isOn === null && obstacle) say(`The console is off: ${obstacle}.\n`)
  return http
}

/**
 * The tokens of the console, or null if it is off. `ferry up` makes a token if none is set; workers do not, since they may be
 * several, which accept each other's forms only with the same one.
 */
async function consoleTokens(
  { http, dataDir }: Pick<Config, 'http' | 'dataDir'>,
  { usesHttp }: HttpChoice,
): Promise<Tokens | null> {
  const { isOn, obstacle, operateToken, readToken } = http.console
  if (!(isOn ?? (usesHttp && obstacle === null))) return null
  if (operateToken || readToken) return { operate: operateToken, read: readToken }
  if (!usesHttp) throw new UsageError(WORKER_NEEDS_TOKEN)
  const { ensureConsoleToken } = await import('./console-token.ts')
  return { operate: await ensureConsoleToken(dataDir), read: null }
}

const WORKER_NEEDS_TOKEN =
  'FERRY_CONSOLE: the console of a worker needs a token. Set FERRY_CONSOLE_TOKEN, FERRY_CONSOLE_READ_TOKEN, or the ..._FILE of ' +
  'one, to 20 characters or more, such as `openssl rand -hex 24` prints.'

/** From now on HTTP answers for this worker. */
export async function serveHttp(
  http: HttpServer,
  ferry: Ferry,
  worker: Pick<FerryWorker, 'countWaiting'>,
  definitions: readonly ScheduleDefinition[],
  opened: AsyncDisposableStack,
): Promise<void> {
  const { OPERATIONS } = await import('#src/platform/operations.ts')
  const { schedulesOf } = await import('#src/schedules/definition.ts')
  const accounts = [...ferry.accounts.keys()]
  const operations = Object.keys(OPERATIONS) as Operation[]
  const schedules = schedulesOf(definitions, accounts)
  const limits = accounts.flatMap(account =>
    operations.map(operation => ({ account, operation, limit: ferry.limitOf(account, operation) })),
  )
  const shared = { pool: ferry.pool, schedules, catchUpMs: ferry.catchUpMs, limits }
  http.serve({
    ...shared,
    countWaiting: worker.countWaiting,
    console: http.hasConsole ? { ...shared, accounts, ...(await openReading(ferry, opened)) } : null,
  })
}

/** A page takes one or two, and people look at few pages at a time. */
const READERS = 3
const PERSONAL_READERS = 1
/** A statement of a page that takes longer is stopped. */
const PAGE_WITHIN_MS = 2_000

/** Opens what the console reads from, and what tidies up after it. No connection is opened before a page needs one. */
async function openReading(
  ferry: Ferry,
  opened: AsyncDisposableStack,
): Promise<
  Pick<
    ConsoleTarget,
    'reader' | 'personal' | 'inventory' | 'timezone' | 'platformUrl' | 'notify' | 'collectGarbageLater'
  >
> {
  const { openDatabase } = await import('#src/db/pool.ts')
  const { joinReader, prepareReader, READER } = await import('#src/reports/reader-role.ts')
  const { databaseUrl, databasePassword: secret = null } = ferry.backend
  const { status } = await prepareReader(ferry.pool)
  const isReader = status === 'ready' && (await joinReader(ferry.pool))
  if (!isReader) {
    ferry.log.warn(
      `The console reads with all rights of this database user: it cannot switch to the role ${READER}. Run \`ferry migrate\` as the owner of the database, and grant ${READER} to this user.`,
    )
  }
  const open = (role: string | null, poolSize: number) =>
    opened.use(
      openDatabase(databaseUrl, ferry.log, { secret, poolSize, reading: { role, withinMs: PAGE_WITHIN_MS } }),
    )
  return {
    reader: open(isReader ? READER : null, READERS).pool,
    personal: open(null, PERSONAL_READERS).pool,
    inventory: ferry,
    timezone: ferry.timezone,
    platformUrl: ferry.config.platformUrl,
    notify: ferry.config.notify,
    collectGarbageLater: opened.use(collectGarbageLater()).again,
  }
}
