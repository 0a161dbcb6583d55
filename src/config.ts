import { resolve } from 'node:path'
import { type Account, type AccountDefaults, accountOf, readAccounts } from './config/accounts.ts'
import { type HttpSettings, readHttp } from './config/http.ts'
import { readNotify } from './config/notify.ts'
import { readSecretFile, SECRET_SETTINGS, secretOf } from './config/setting-or-file.ts'
import { Environment, type LOG_LEVELS, SETTINGS } from './config/settings.ts'
import { quoted } from './config/values.ts'
import { isNot } from './model/did-you-mean.ts'
import { guardedMs } from './model/limit.ts'
import type { RemovalGuard } from './model/removal-guard.ts'
import { Secret } from './model/secret.ts'
import { type NotifySettings, type Retention, SANDBOX_KEY_SETTING } from './model/settings.ts'

export type { Account, AccountDefaults } from './config/accounts.ts'
export type { HttpSettings } from './config/http.ts'
export { secretFiles } from './config/secret-file.ts'
export { SETTINGS } from './config/settings.ts'

/*
 * Ferry's settings. No other module reads the environment. All mistakes are reported together, before anything starts.
 */

export type Config = {
  /** Null for the embedded Postgres. */
  readonly databaseUrl: string | null
  /** That of its file; null if the URL holds it, or none is needed. */
  readonly databasePassword: Secret | null
  /** Null for a queue in Postgres. */
  readonly redisUrl: string | null
  readonly redisPassword: Secret | null
  /** An absolute path. */
  readonly dataDir: string
  /** Empty if none is configured. */
  readonly accounts: readonly Account[]
  /** The values for an account that does not set its own. */
  readonly accountDefaults: AccountDefaults
  readonly pollEveryMs: number
  /** Null: MCP servers are synced with the nightly snapshot only. */
  readonly mcpPollEveryMs: number | null
  readonly nightlyCron: string
  readonly timezone: string
  readonly catchUpMs: number
  readonly arrivalBoundMs: number
  /** Subscribers in one call, unless `import --batch` says otherwise. */
  readonly importBatch: number
  readonly requestTimeoutMs: number
  /** How many inventories a worker compares and stores at once. */
  readonly workerConcurrency: number
  /** How many rows of inventories a worker remembers. */
  readonly knownRows: number
  readonly removalGuard: RemovalGuard
  readonly retention: Retention
  readonly proxy: Proxy
  readonly http: HttpSettings
  /** The pattern of the address of a rule in the platform's own console; null if none is set. */
  readonly platformUrl: string | null
  /** Where events are sent. */
  readonly notify: NotifySettings
  /** Null for the command's own default. */
  readonly logLevel: LogLevel | null
}

export type LogLevel = (typeof LOG_LEVELS)[number]

/** Proxies for the platform, by the scheme of its address. `except` lists hosts that are reached without a proxy. */
export type Proxy = {
  readonly https: string | null
  readonly http: string | null
  readonly except: string | null
}

type Env = Readonly<Record<string, string | undefined>>

/** Settings are wrong. Each of `mistakes` names a setting, what is wrong, and what would be right. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly mistakes: readonly string[]
  constructor(mistakes: readonly string[]) {
    const lead = mistakes.length === 1 ? 'One setting is wrong:' : `${mistakes.length} settings are wrong:`
    super([lead, ...mistakes].join('\n  '))
    this.mistakes = mistakes
  }
}

/** Returns the configuration, frozen. An empty setting, or one of white space, counts as unset. Throws `ConfigurationError`. */
export function readConfig(env: Env = process.env): Config {
  const given = settingsGiven(env)
  const { settings, mistakes } = parseSettings(given)
  const { accounts, defaults, variables } = readAccounts(given, settings, mistakes)
  const databasePassword = readPasswordFile('DATABASE', settings, mistakes)
  const redisPassword = readPasswordFile('REDIS', settings, mistakes)
  const http = readHttp(settings, mistakes)
  const { notify, variables: secretVariables } = readNotify(given, settings, mistakes)
  const retention = readRetention(settings)
  mistakes.push(...forgottenCalls(retention, accounts))
  mistakes.push(
    ...unknownSettings(given, [...variables, ...secretVariables]),
    ...revealingDebug(given.NODE_DEBUG ?? ''),
  )
  if (mistakes.length > 0) throw new ConfigurationError(mistakes)
  return Object.freeze({
    databaseUrl: settings.DATABASE_URL ?? null,
    databasePassword,
    redisUrl: settings.REDIS_URL ?? null,
    redisPassword,
    dataDir: resolve(settings.FERRY_DATA_DIR),
    accounts,
    accountDefaults: defaults,
    pollEveryMs: settings.FERRY_POLL_EVERY,
    mcpPollEveryMs: settings.FERRY_MCP_POLL_EVERY,
    nightlyCron: settings.FERRY_NIGHTLY_CRON,
    timezone: settings.FERRY_TIMEZONE,
    catchUpMs: settings.FERRY_CATCH_UP,
    arrivalBoundMs: settings.FERRY_ARRIVAL_BOUND,
    importBatch: settings.FERRY_IMPORT_BATCH,
    requestTimeoutMs: settings.FERRY_REQUEST_TIMEOUT,
    workerConcurrency: settings.FERRY_WORKER_CONCURRENCY,
    knownRows: settings.FERRY_KNOWN_ROWS,
    removalGuard: settings.FERRY_REMOVAL_GUARD,
    retention,
    proxy: {
      https: settings.HTTPS_PROXY ?? null,
      http: settings.HTTP_PROXY ?? null,
      except: settings.NO_PROXY ?? null,
    },
    http,
    platformUrl: settings.FERRY_PLATFORM_URL ?? null,
    notify,
    logLevel: settings.FERRY_LOG_LEVEL ?? null,
  })
}

/** Returns the configuration with one more account, the built-in sandbox. It has the default values. */
export function withAccount(config: Config, name: string, baseUrl: string, appKey: string): Config {
  const baseUrlSetting = 'the built-in sandbox'
  const source = {
    name,
    baseUrl,
    baseUrlSetting,
    appKey: new Secret(appKey),
    keySetting: SANDBOX_KEY_SETTING,
  }
  const account = accountOf(config.accountDefaults, source)
  // It runs in this process, or beside it: no proxy reaches it.
  const proxy = {
    ...config.proxy,
    except: [config.proxy.except, new URL(baseUrl).host].filter(Boolean).join(),
  }
  return Object.freeze({ ...config, proxy, accounts: [...config.accounts, account] })
}

/** Settings without the white space around them. Not secrets: one that was copied with white space is refused, as it was copied wrong. */
const TRIMMED: ReadonlySet<string> = new Set(
  [...SETTINGS.map(({ name }) => name), 'https_proxy', 'http_proxy', 'no_proxy'].filter(
    name => !SECRET_SETTINGS.some(secret => secret === name),
  ),
)

/** Returns every non-empty variable. Names of proxies may be in lower case, as in most programs. */
function settingsGiven(env: Env): Record<string, string> {
  const given: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    const text = TRIMMED.has(name) ? value?.trim() : value
    if (text) given[name] = text
  }
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']) {
    const lowerCase = given[name.toLowerCase()]
    if (lowerCase !== undefined) given[name] ??= lowerCase
  }
  return given
}

/** Parses the settings. A wrong one is reported and then treated as unset, so that it does not hide other mistakes. */
function parseSettings(given: Readonly<Record<string, string>>) {
  const parsed = Environment.safeParse(given)
  const issues = parsed.error?.issues ?? []
  const wrong = new Set(issues.map(issue => issue.path[0]))
  const right = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name)))
  return {
    settings: parsed.data ?? Environment.parse(right),
    mistakes: issues.map(issue => `${String(issue.path[0])}: ${issue.message}`),
  }
}

/** Returns the password of a server that is in a file; null if it is in none, or the server has no URL. */
function readPasswordFile(
  server: 'DATABASE' | 'REDIS',
  settings: Environment,
  mistakes: string[],
): Secret | null {
  const { [`${server}_URL` as const]: url, [`${server}_PASSWORD_FILE` as const]: file } = settings
  if (url === undefined || file === undefined) return null
  const setting = `${server}_PASSWORD_FILE`
  const { password, searchParams } = new URL(url)
  if (password || searchParams.has('password'))
    mistakes.push(`${setting}: ${server}_URL also contains a password; write it in one place`)
  const found = readSecretFile(file, setting, mistakes)
  if (found === null) return null
  if (found.text === '') mistakes.push(`${found.where} is empty; write the password into it`)
  return secretOf(found, found.text, text => text || null)
}

/** Under these names Node and undici print the addresses of calls, which contain the key, or the bodies. */
const REVEALING = ['undici', 'fetch', 'websocket', 'stream']

/** Checks `NODE_DEBUG`: names separated by commas, in either case, with `*` for any characters. */
function revealingDebug(nodeDebug: string): string[] {
  const patterns = nodeDebug.split(',').map(name => RegExp.escape(name.trim()).replaceAll('\\*', '.*'))
  const revealing = REVEALING.filter(name =>
    patterns.some(pattern => new RegExp(`^${pattern}$`, 'i').test(name)),
  )
  if (revealing.length === 0) return []
  return [
    `NODE_DEBUG: ${quoted(nodeDebug)} would print the app_key with every call; unset it, or leave out ${revealing.join(', ')}`,
  ]
}

/** `variables` are the names that the files of accounts and receivers refer to. */
function unknownSettings(given: Readonly<Record<string, string>>, variables: readonly string[]): string[] {
  const real = SETTINGS.map(setting => setting.name)
  const known = new Set([...real, ...variables])
  return Object.keys(given)
    .filter(name => name.startsWith('FERRY_') && !name.startsWith('FERRY_TEST_') && !known.has(name))
    .map(name => `${name}: ${isNot('a setting', name, real)}`)
}

export function readRetention(settings: Environment): Retention {
  return {
    versionsMs: settings.FERRY_KEEP_VERSIONS,
    callsMs: settings.FERRY_KEEP_CALLS,
    runsMs: settings.FERRY_KEEP_RUNS,
    quarantineMs: settings.FERRY_KEEP_QUARANTINE,
    recipientsMs: settings.FERRY_KEEP_RECIPIENTS,
    notificationsMs: settings.FERRY_KEEP_NOTIFICATIONS,
  }
}

/** A limit counts the calls of its window, by the database's clock, so they must be kept for longer. */
export function forgottenCalls({ callsMs }: Retention, accounts: readonly Account[]): string[] {
  const windows = accounts.flatMap(account => [...account.importLimit, ...account.listLimit])
  if (callsMs === null || windows.every(({ windowMs }) => guardedMs(windowMs) < callsMs)) return []
  return ['FERRY_KEEP_CALLS: a limit counts calls over a longer window; write more days, or forever']
}
