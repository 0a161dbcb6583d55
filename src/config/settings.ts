import { z } from 'zod'
import * as value from './values.ts'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** Every setting: how it is written, what it is if unset, what it means. The README's table is checked against this. */
export const Environment = z.object({
  DATABASE_URL: value.PostgresUrl.optional().describe(
    'Postgres 15 or newer. Unset: Ferry brings up its own in `FERRY_DATA_DIR`.',
  ),
  DATABASE_PASSWORD_FILE: z
    .string()
    .optional()
    .describe('A file that holds the password for `DATABASE_URL`, if it is not written there.'),
  REDIS_URL: value.RedisUrl.optional().describe(
    'A single Redis 6.2 or newer (or Valkey; no Cluster, no Sentinel) with `noeviction`, for the queue. Unset: the queue lives in Postgres.',
  ),
  FERRY_DATA_DIR: z.string().prefault('.ferry').describe('Where the embedded Postgres keeps its data.'),
  FERRY_BASE_URL: value.BaseUrl.optional().describe(
    'Where the platform is, for the one account `default`. No account at all: the built-in sandbox (`up`, `demo`).',
  ),
  FERRY_APP_KEY: z.string().optional().describe('The app_key of that account.'),
  FERRY_APP_KEY_FILE: z.string().optional().describe('Or: a file that holds the app_key.'),
  FERRY_ACCOUNTS_FILE: z
    .string()
    .optional()
    .describe('Several accounts: a JSON file, keys by reference (see "Several accounts").'),
  FERRY_FOLDERS: value.Folders.prefault('0').describe(
    'Folders whose alert rules are listed, with commas between; `0` is all the key may view.',
  ),
  FERRY_PAGE_LIMIT: value.PageLimitText.prefault('100').describe('MCP servers asked for in one page.'),
  FERRY_INCLUDE_ACCOUNT: value.Flag.prefault('true').describe(
    'Whether account-level MCP servers are listed.',
  ),
  FERRY_POLL_EVERY: value.Period.prefault('60s').describe('How often alert rules are synced.'),
  FERRY_NIGHTLY_CRON: value.Cron.prefault('30 3 * * *').describe('When the nightly snapshot is taken.'),
  FERRY_TIMEZONE: value.TimeZone.prefault('UTC').describe('The time zone of that cron time.'),
  FERRY_CATCH_UP: value.Duration.prefault('6h').describe(
    'A run missed while nothing was up is made up for if it is younger than this.',
  ),
  FERRY_IMPORT_LIMIT: value.Limit.prefault('2/1s,20/60s').describe(
    'Import calls the platform allows an account, as calls/window.',
  ),
  FERRY_LIST_LIMIT: value.Limit.prefault('50/1s,1000/60s').describe(
    'Calls of each listing the platform allows, as calls/window.',
  ),
  FERRY_ARRIVAL_BOUND: value.ArrivalBound.prefault('5s').describe(
    'The longest a request may be under way before the platform counts it; `500ms` or more.',
  ),
  FERRY_IMPORT_BATCH: value.BatchRows.prefault('500').describe('Subscribers sent in one import call.'),
  FERRY_REQUEST_TIMEOUT: value.Duration.prefault('20s').describe('How long one request may take in all.'),
  FERRY_WORKER_CONCURRENCY: value.Concurrency.prefault('4').describe(
    'How many inventories a worker compares and stores at once; each takes a database connection. Waiting for the platform does not count.',
  ),
  FERRY_REMOVAL_GUARD: value.Guard.prefault('10,20%').describe(
    'More rows than this gone at once, and more than this share, is held for a person.',
  ),
  FERRY_ALLOW_HTTP: value.Flag.prefault('false').describe(
    'Allows plain `http:` to a platform that is not on this machine. The key travels in the address.',
  ),
  FERRY_LOG_LEVEL: z
    .enum(LOG_LEVELS, {
      error: issue => `${value.quoted(issue.input)} is not one of ${LOG_LEVELS.join(', ')}`,
    })
    .optional()
    .describe('`trace` to `fatal`, or `silent`. Unset: `info` for `up` and `worker`, else `warn`.'),
  HTTPS_PROXY: value.ProxyUrl.optional().describe('The proxy for `https:` addresses of the platform.'),
  HTTP_PROXY: value.ProxyUrl.optional().describe('The proxy for `http:` addresses of the platform.'),
  NO_PROXY: z.string().optional().describe('Hosts reached without a proxy, with commas between.'),
})
export type Environment = z.output<typeof Environment>

/** Settings of rooms that are not built yet. They are accepted unread, so that one file of settings can serve all. */
export const RESERVED = ['FERRY_CONSOLE_HOST', 'FERRY_CONSOLE_PORT', 'FERRY_CONSOLE_TOKEN']

/** Every setting as data, in the order in which the README shows them. */
export const SETTINGS: readonly Setting[] = Object.entries(Environment.shape).map(([name, type]) => ({
  name,
  default: type instanceof z.ZodPrefault ? String(type.def.defaultValue) : null,
  meaning: type.description ?? '',
}))

export type Setting = { readonly name: string; readonly default: string | null; readonly meaning: string }
