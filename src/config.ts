import { resolve } from 'node:path'
import { closest } from 'fastest-levenshtein'
import { type Account, type AccountDefaults, accountOf, readAccounts } from './config/accounts.ts'
import { readText } from './config/accounts-file.ts'
import { Environment, type LOG_LEVELS, RESERVED, SETTINGS } from './config/settings.ts'
import { quoted } from './config/values.ts'
import { Secret } from './model/secret.ts'

export type { Account, AccountDefaults } from './config/accounts.ts'
export { SETTINGS } from './config/settings.ts'

/*
 * What Ferry is told from outside. Nothing else reads the environment. Every mistake is found before anything is
 * started, and all are named at once.
 */

export type Config = {
  /** Null stands for the embedded Postgres. */
  readonly databaseUrl: string | null
  /** Null stands for the queue in Postgres. */
  readonly redisUrl: string | null
  /** An absolute path. */
  readonly dataDir: string
  /** Empty if none is configured. */
  readonly accounts: readonly Account[]
  /** What holds for an account that says nothing else. */
  readonly accountDefaults: AccountDefaults
  readonly pollEveryMs: number
  readonly nightlyCron: string
  readonly timezone: string
  readonly catchUpMs: number
  readonly arrivalBoundMs: number
  /** Subscribers sent in one call, if `import` is not told otherwise. */
  readonly importBatch: number
  readonly requestTimeoutMs: number
  /** How many inventories a worker compares and stores at once. */
  readonly workerConcurrency: number
  readonly removalGuard: { readonly rows: number; readonly share: number }
  readonly proxy: Proxy
  /** Null leaves it to the command. */
  readonly logLevel: LogLevel | null
}

export type LogLevel = (typeof LOG_LEVELS)[number]

/** Proxies for the platform, by the scheme of its address; `except` lists hosts reached without. */
export type Proxy = {
  readonly https: string | null
  readonly http: string | null
  readonly except: string | null
}

type Env = Readonly<Record<string, string | undefined>>

/** The settings are wrong. `mistakes` names each one: the setting, what is wrong, what would be right. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly mistakes: readonly string[]
  constructor(mistakes: readonly string[]) {
    const lead = mistakes.length === 1 ? 'One setting is wrong:' : `${mistakes.length} settings are wrong:`
    super([lead, ...mistakes].join('\n  '))
    this.mistakes = mistakes
  }
}

/** Returns the configuration, frozen. An empty setting counts as unset. Throws `ConfigurationError`. */
export function readConfig(env: Env = process.env): Config {
  const given = settingsGiven(env)
  const { settings, mistakes } = parseSettings(given)
  const { accounts, defaults, variables } = readAccounts(given, settings, mistakes)
  const databaseUrl = readDatabaseUrl(settings, mistakes)
  mistakes.push(...unknownSettings(given, variables), ...tellingDebug(given.NODE_DEBUG ?? ''))
  if (mistakes.length > 0) throw new ConfigurationError(mistakes)
  return Object.freeze({
    databaseUrl,
    redisUrl: settings.REDIS_URL ?? null,
    dataDir: resolve(settings.FERRY_DATA_DIR),
    accounts: accounts,
    accountDefaults: defaults,
    pollEveryMs: settings.FERRY_POLL_EVERY,
    nightlyCron: settings.FERRY_NIGHTLY_CRON,
    timezone: settings.FERRY_TIMEZONE,
    catchUpMs: settings.FERRY_CATCH_UP,
    arrivalBoundMs: settings.FERRY_ARRIVAL_BOUND,
    importBatch: settings.FERRY_IMPORT_BATCH,
    requestTimeoutMs: settings.FERRY_REQUEST_TIMEOUT,
    workerConcurrency: settings.FERRY_WORKER_CONCURRENCY,
    removalGuard: settings.FERRY_REMOVAL_GUARD,
    proxy: {
      https: settings.HTTPS_PROXY ?? null,
      http: settings.HTTP_PROXY ?? null,
      except: settings.NO_PROXY ?? null,
    },
    logLevel: settings.FERRY_LOG_LEVEL ?? null,
  })
}

/** Returns the same configuration with one account more, which takes the defaults: the built-in sandbox. */
export function withAccount(config: Config, name: string, baseUrl: string, appKey: string): Config {
  const source = { name, baseUrl, baseUrlSetting: 'the built-in sandbox', appKey: new Secret(appKey) }
  const account = accountOf(config.accountDefaults, source)
  return Object.freeze({ ...config, accounts: [...config.accounts, account] })
}

/** Every non-empty variable. Proxies may be written small, as most programs allow. */
function settingsGiven(env: Env): Record<string, string> {
  const given: Record<string, string> = {}
  for (const [name, text] of Object.entries(env)) if (text) given[name] = text
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']) {
    const small = given[name.toLowerCase()]
    if (small !== undefined) given[name] ??= small
  }
  return given
}

/** One mistake must not hide another: a setting that is wrong is named, and read as if unset. */
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

function readDatabaseUrl(settings: Environment, mistakes: string[]): string | null {
  const { DATABASE_URL: text, DATABASE_PASSWORD_FILE: file } = settings
  if (text === undefined || file === undefined) return text ?? null
  const url = new URL(text)
  if (url.password)
    mistakes.push('DATABASE_PASSWORD_FILE: DATABASE_URL holds a password too; write it in one place')
  const password = readText(file, 'DATABASE_PASSWORD_FILE', mistakes)?.replace(/\r?\n$/, '') ?? ''
  url.password = encodeURIComponent(password)
  return url.href
}

/** What Node and undici print under these names holds the addresses of calls, and so the key, or what is sent. */
const TELLING = ['undici', 'fetch', 'websocket', 'stream']

/** `NODE_DEBUG` takes names with commas between, in either case, and `*` for any characters. */
function tellingDebug(nodeDebug: string): string[] {
  const patterns = nodeDebug.split(',').map(name => RegExp.escape(name.trim()).replaceAll('\\*', '.*'))
  const telling = TELLING.filter(name => patterns.some(pattern => new RegExp(`^${pattern}$`, 'i').test(name)))
  if (telling.length === 0) return []
  return [
    `NODE_DEBUG: ${quoted(nodeDebug)} would print the app_key with every call; unset it, or leave out ${telling.join(', ')}`,
  ]
}

/** `variables` are those the accounts file refers to. */
function unknownSettings(given: Readonly<Record<string, string>>, variables: readonly string[]): string[] {
  const real = SETTINGS.map(setting => setting.name)
  const known = new Set([...real, ...RESERVED, ...variables])
  return Object.keys(given)
    .filter(name => name.startsWith('FERRY_') && !name.startsWith('FERRY_TEST_') && !known.has(name))
    .map(name => `${name}: there is no such setting; did you mean ${closest(name, [...real, ...RESERVED])}?`)
}
