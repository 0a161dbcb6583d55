import { z } from 'zod'
import { WEBHOOK_FORMATS } from '../model/settings.ts'
import * as notify from './notify-values.ts'
import * as proxy from './proxy-values.ts'
import * as value from './values.ts'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** Every setting: how it is written, what it is if unset, what it means. `npm run docs` writes docs/settings.md from it. */
export const Environment = z.object({
  DATABASE_URL: value.PostgresUrl.optional().describe(
    'Postgres 15 or newer. Unset: Ferry runs its own in `FERRY_DATA_DIR`.',
  ),
  DATABASE_PASSWORD_FILE: z
    .string()
    .optional()
    .describe('A file with the password for `DATABASE_URL`, if the URL has none.'),
  REDIS_URL: value.RedisUrl.optional().describe(
    'A single Redis 6.2 or newer (or Valkey; no Cluster, no Sentinel) with `noeviction`, for the queue. Unset: the queue is in Postgres.',
  ),
  REDIS_PASSWORD_FILE: z
    .string()
    .optional()
    .describe('A file with the password for `REDIS_URL`, if the URL has none.'),
  FERRY_DATA_DIR: z.string().prefault('.ferry').describe('Where the embedded Postgres keeps its data.'),
  FERRY_BASE_URL: value.BaseUrl.optional().describe(
    'The address of the platform, for the account `default`. Without any account, `up` and `demo` use the built-in sandbox.',
  ),
  FERRY_APP_KEY: z.string().optional().describe('The app_key of that account.'),
  FERRY_APP_KEY_FILE: z.string().optional().describe('A file with the app_key, instead of `FERRY_APP_KEY`.'),
  FERRY_ACCOUNTS_FILE: z
    .string()
    .optional()
    .describe(
      'A JSON file with several accounts (see "Several accounts"). It refers to keys, and contains none.',
    ),
  FERRY_FOLDERS: value.Folders.prefault('0').describe(
    'Folders whose alert rules are synced, separated by commas. `0` means all folders that the key can view.',
  ),
  FERRY_PAGE_LIMIT: value.PageLimitText.prefault('100').describe(
    'How many MCP servers Ferry asks for in one page.',
  ),
  FERRY_INCLUDE_ACCOUNT: value.Flag.prefault('true').describe(
    'Whether account-level MCP servers are synced too.',
  ),
  FERRY_POLL_EVERY: value.Period.prefault('60s').describe('How often alert rules are synced.'),
  FERRY_MCP_POLL_EVERY: value.PeriodOrOff.prefault('15m').describe(
    'How often MCP servers are synced. `off`: only with the nightly snapshot.',
  ),
  FERRY_NIGHTLY_CRON: value.Cron.prefault('30 3 * * *').describe(
    'When the nightly snapshot is taken. A time that is changed to one that has passed today begins tomorrow, unless no snapshot was taken for a day.',
  ),
  FERRY_TIMEZONE: value.TimeZone.prefault('UTC').describe(
    'The time zone of `FERRY_NIGHTLY_CRON`, and of the times of digests. Nights are named by their day in it, past ones too.',
  ),
  FERRY_CATCH_UP: value.Duration.prefault('6h').describe(
    'A night that was missed while no worker was running is caught up if it is not older than this. Old rows are removed however late.',
  ),
  FERRY_IMPORT_LIMIT: value.LimitWindows.prefault('2/1s,20/60s').describe(
    'How many import calls the platform allows an account, as calls/window.',
  ),
  FERRY_LIST_LIMIT: value.LimitWindows.prefault('50/1s,1000/60s').describe(
    'How many calls of each listing the platform allows, as calls/window.',
  ),
  FERRY_ARRIVAL_BOUND: value.ArrivalBound.prefault('5s').describe(
    'The platform counts a request at most this long after Ferry sent it. `500ms` or more.',
  ),
  FERRY_IMPORT_BATCH: value.BatchRows.prefault('500').describe(
    'How many subscribers Ferry sends in one import call.',
  ),
  FERRY_REQUEST_TIMEOUT: value.Duration.prefault('20s').describe(
    'How long one request may wait for the platform in total.',
  ),
  FERRY_WORKER_CONCURRENCY: value.Concurrency.prefault('4').describe(
    'How many inventories a worker stores at a time. Each needs a database connection. Waiting for the platform does not count.',
  ),
  FERRY_KNOWN_ROWS: value.RowCount.prefault('1000000').describe(
    'How many rows of its inventories a worker remembers. A remembered row that has not changed is not parsed again. Each takes about 60 bytes of memory; 0 remembers none.',
  ),
  FERRY_REMOVAL_GUARD: value.Guard.prefault('10,20%').describe(
    'If more rows than this number, and more than this share, are gone at once, their removal waits for a person.',
  ),
  FERRY_KEEP_VERSIONS: value.Keep.prefault('forever').describe(
    'How long versions of rules and servers, and firings, are kept after their end: `365d`, or `forever`. Earlier moments can no longer be queried, and their snapshots are removed.',
  ),
  FERRY_KEEP_CALLS: value.Keep.prefault('90d').describe(
    'How long the call log is kept. Calls of imports are kept forever.',
  ),
  FERRY_KEEP_RUNS: value.Keep.prefault('90d').describe(
    'How long runs that changed nothing are kept. The others are kept forever.',
  ),
  FERRY_KEEP_QUARANTINE: value.Keep.prefault('forever').describe(
    'How long quarantined rows are kept after they are no longer listed. They are removed with their run in any case.',
  ),
  FERRY_KEEP_RECIPIENTS: value.Keep.prefault('30d').describe(
    'How long addresses and raw rows of an import are kept after its end.',
  ),
  FERRY_KEEP_NOTIFICATIONS: value.Keep.prefault('90d').describe(
    'How long events are kept after they were sent. An unresolved event stays.',
  ),
  FERRY_ALLOW_HTTP: value.Flag.prefault('false').describe(
    'Allows plain `http:` to a platform on another machine. The key is then sent unencrypted, in the address.',
  ),
  FERRY_HTTP_PORT: value.Port.optional().describe(
    'The port of `/livez`, `/readyz`, `/freshness` and `/metrics`; 0 takes a free one. Unset: `worker` has no HTTP, and `up` uses 3377, or a free one if 3377 is taken.',
  ),
  FERRY_HTTP_HOST: value.HttpHost.prefault('127.0.0.1').describe(
    'The address on which HTTP listens. `0.0.0.0` or `::` means every interface of the machine.',
  ),
  FERRY_HTTP_HOSTS: value.HostNames.optional().describe(
    'The host names that clients use for that address, separated by commas. IP addresses and `localhost` are always accepted; a request for any other host is refused.',
  ),
  FERRY_METRICS_TOKEN: z
    .string()
    .optional()
    .describe(
      'Required for `/metrics`, and for the names in `/freshness`, as `Authorization: Bearer`. 20 characters or more. Unset: no token is required, except in an `up` that made a token for the console: there it is that one.',
    ),
  FERRY_METRICS_TOKEN_FILE: z
    .string()
    .optional()
    .describe('A file with that token, instead of `FERRY_METRICS_TOKEN`.'),
  FERRY_CONSOLE: z
    .enum(['on', 'off'], { error: issue => `${value.quoted(issue.input)} is neither on nor off` })
    .optional()
    .describe(
      'Whether the console is served (see [console.md](console.md)). Unset: on in `up`, off in `worker`. `on` in a `worker` without `FERRY_HTTP_PORT` uses port 3377.',
    ),
  FERRY_CONSOLE_TOKEN: z
    .string()
    .optional()
    .describe(
      'Grants full access to the console. 20 characters or more. Without a token, `up` makes one (see [console.md](console.md)), and a `worker` has no console.',
    ),
  FERRY_CONSOLE_TOKEN_FILE: z
    .string()
    .optional()
    .describe('A file with that token, instead of `FERRY_CONSOLE_TOKEN`.'),
  FERRY_CONSOLE_READ_TOKEN: z
    .string()
    .optional()
    .describe(
      'Grants read-only access to the console. 20 characters or more. Recipients of imports are hidden; who edited rules and who decided what is shown.',
    ),
  FERRY_CONSOLE_READ_TOKEN_FILE: z
    .string()
    .optional()
    .describe('A file with that token, instead of `FERRY_CONSOLE_READ_TOKEN`.'),
  FERRY_CONSOLE_TRUST_HEADER: proxy.HeaderName.optional().describe(
    'The header in which a proxy that signs people in names them, such as `X-Forwarded-User` (see [console.md](console.md#behind-a-proxy-that-signs-people-in)). It counts only from `FERRY_CONSOLE_TRUST_FROM`, which must be set too. Unset: nobody is trusted by a header.',
  ),
  FERRY_CONSOLE_TRUST_FROM: proxy.Networks.optional().describe(
    'The addresses of that proxy, separated by commas: `10.1.2.3`, or networks such as `10.1.2.0/28`.',
  ),
  FERRY_CONSOLE_TRUST_GROUPS: proxy.GroupAccess.optional().describe(
    'The header with the groups of a person, and what these may do: `X-Forwarded-Groups: sre=full, staff=read`. Others are refused. Unset: whoever the proxy names has full access.',
  ),
  FERRY_PLATFORM_URL: value.PlatformUrl.optional().describe(
    "Where a rule is in the platform's own console, such as `https://app.example.com/monit/rule/{id}`; also `{account_id}` and `{folder_id}`. The page of a rule then links to it.",
  ),
  FERRY_LOG_LEVEL: z
    .enum(LOG_LEVELS, {
      error: issue => `${value.quoted(issue.input)} is not one of ${LOG_LEVELS.join(', ')}`,
    })
    .optional()
    .describe('`trace` to `fatal`, or `silent`. Unset: `info` for `up` and `worker`, `warn` for all others.'),
  FERRY_WEBHOOK_URL: notify.CallUrl.optional().describe(
    'The URL that events are posted to (see "Notifications" in operators.md). Unset: none are sent.',
  ),
  FERRY_WEBHOOK_SECRET: z
    .string()
    .optional()
    .describe(
      'The secret that signs messages to `FERRY_WEBHOOK_URL`: `whsec_` and 24 to 64 bytes in base64. Unset: they are not signed.',
    ),
  FERRY_WEBHOOK_SECRET_FILE: z
    .string()
    .optional()
    .describe('A file with that secret, instead of `FERRY_WEBHOOK_SECRET`.'),
  FERRY_WEBHOOK_FORMAT: z
    .enum(WEBHOOK_FORMATS, {
      error: issue => `${value.quoted(issue.input)} is not one of ${WEBHOOK_FORMATS.join(', ')}`,
    })
    .optional()
    .describe(
      '`standard`: Standard Webhooks. `slack`: text that Slack and compatible chats accept. Unset: `slack` for hooks.slack.com, else `standard`.',
    ),
  FERRY_WEBHOOK_PRIVATE: value.Flag.prefault('true').describe(
    'Whether receivers of events and `FERRY_HEARTBEAT_URL` may be on a private network or this machine.',
  ),
  FERRY_NOTIFY: notify.EventKinds.prefault('all').describe(
    'The events that are sent to `FERRY_WEBHOOK_URL`, separated by commas. `all` is all but those of alert rules, which are sent only where they are named, such as `all,rule.disabled`.',
  ),
  FERRY_RECEIVERS_FILE: z
    .string()
    .optional()
    .describe(
      'A JSON file with several receivers of events (see "Several receivers" in operators.md). It refers to secrets, and contains none.',
    ),
  FERRY_PUBLIC_URL: notify.PublicUrl.optional().describe(
    'The address at which people reach the console. Messages then lead to the page of what they are about.',
  ),
  FERRY_HEARTBEAT_URL: notify.CallUrl.optional().describe(
    'Called once a minute while every inventory is fresh. A service that expects the call can alert when it stops.',
  ),
  HTTPS_PROXY: value.ProxyUrl.optional().describe('The proxy for `https:` addresses of the platform.'),
  HTTP_PROXY: value.ProxyUrl.optional().describe('The proxy for `http:` addresses of the platform.'),
  NO_PROXY: z.string().optional().describe('Hosts that are reached without a proxy, separated by commas.'),
})
export type Environment = z.output<typeof Environment>

/** Every setting as data, in the order in which docs/settings.md shows them. */
export const SETTINGS: readonly Setting[] = Object.entries(Environment.shape).map(([name, type]) => ({
  name,
  default: type instanceof z.ZodPrefault ? String(type.def.defaultValue) : null,
  meaning: type.description ?? '',
}))

export type Setting = { readonly name: string; readonly default: string | null; readonly meaning: string }
