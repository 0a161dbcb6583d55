import { isIP } from 'node:net'
import { CronExpressionParser } from 'cron-parser'
import { z } from 'zod'
import { DAY_MS, LONGEST_TIMER, LONGEST_TIMER_MS, parseDuration } from '../model/duration.ts'
import type { LimitWindow } from '../model/limit.ts'
import { isPlatformPattern } from '../model/platform-url.ts'
import type { RemovalGuard } from '../model/removal-guard.ts'
import { MAX_DEFAULT_BATCH_ROWS } from '../model/settings.ts'
import { MAX_UINT64, uint64Of } from '../model/uint64.ts'
import { readPostgresUrl } from './database-url.ts'

/*
 * How each kind of setting is written. A mistake says what is wrong and what would be right. It repeats the text only
 * where that cannot be a secret.
 */

/** A duration in milliseconds, short enough for a timer. */
export const Duration = text(durationMs, value =>
  isTooLong(value)
    ? `is too long; write ${LONGEST_TIMER} or less`
    : 'is not a duration; write a number above 0 and its unit: 500ms, 60s, 5m or 6h',
)

/** A duration between repetitions. Less than a second would only load the platform. */
export const Period = Duration.refine(ms => ms >= 1_000, 'is too often; write 1s or more')

/** How often something is done, or `off`: never, which is null. */
export const PeriodOrOff = z.union([z.literal('off').transform(() => null), Period], {
  error: 'is neither off nor a duration of 1s or more, such as 15m',
})

/** A permit is valid for a fifth of this. Less than 100 ms could pass before the request is sent. */
export const ArrivalBound = Duration.refine(
  ms => ms >= 500,
  'is too short to send a request; write 500ms or more',
)

/** With its guard (`guardedMs`), Postgres counts a window in an integer of 32 bits. */
const LONGEST_WINDOW_HOURS = 590
const LONGEST_WINDOW_MS = LONGEST_WINDOW_HOURS * 3_600_000

export const LimitWindows = text(
  value => all(value.split(',').map(windowOf))?.filter(isTightest),
  value =>
    value.split(',').some(window => isTooLong(window.split('/').at(-1) ?? '', LONGEST_WINDOW_MS))
      ? `has too long a window; write ${LONGEST_WINDOW_HOURS}h or less`
      : 'is not a limit; write calls/window, with commas between: 2/1s,20/60s',
)

/** Of two windows of one length, the one with fewer calls counts. */
function isTightest({ windowMs }: LimitWindow, index: number, windows: readonly LimitWindow[]): boolean {
  const same = windows.filter(other => other.windowMs === windowMs)
  const least = Math.min(...same.map(other => other.maxCalls))
  return windows.findIndex(other => other.windowMs === windowMs && other.maxCalls === least) === index
}

/** The bounds of a removal that needs a person's decision: rows and a share from 0 to 1. */
export const Guard = text(guardOf, 'is not a removal guard; write a number of rows and a share: 10,20%')

/** Folder ids of alert rules. 0 means all folders that the key can view. */
export const Folders = text(
  value => all(value.split(',').map(folderOf))?.filter(isFirst),
  `is not a list of folders; write ids from 0 to ${MAX_UINT64} with commas between: 0 or 12,34`,
)

/** Folder ids in JSON, where an id above 2^53-1 must be a string to be exact. */
export const FolderList = z
  .array(
    z.union([z.int().min(0).transform(BigInt), z.string().transform(folderOf).pipe(z.bigint())], {
      error: issue =>
        `${quoted(issue.input)} is not a folder id; write one from 0 to ${MAX_UINT64}, ` +
        'in quotes if it is above 9007199254740991',
    }),
  )
  .min(1, 'is empty; write folder ids, such as [12, 34], or leave it out')

export const Cron = text(
  value => (isCron(value) ? value : undefined),
  'is not a cron expression with a next time; write five fields, minute to day of the week: 30 3 * * *',
)

export const TimeZone = text(
  value => (isTimeZone(value) ? value : undefined),
  'is not an IANA time zone; write one such as UTC or Europe/Berlin',
)

export const Flag = z
  .enum(['1', 'true', '0', 'false'], { error: issue => `${quoted(issue.input)} is neither true nor false` })
  .transform(value => value === '1' || value === 'true')

export const PostgresUrl = z.string().transform((value, context) => {
  const read = readPostgresUrl(value)
  if ('url' in read) return read.url
  context.addIssue(read.mistake)
  return z.NEVER
})
export const RedisUrl = url('a Redis', ['redis:', 'rediss:'], 'redis://host:6379')
export const ProxyUrl = url('a proxy', ['http:', 'https:'], 'http://proxy:3128')

/** The platform's address, without a slash at the end. It must not contain a key: the client adds it. */
export const BaseUrl = z
  .string()
  .trim()
  .transform((value, context) => {
    const address = URL.parse(value)
    const wrong =
      address?.protocol !== 'http:' && address?.protocol !== 'https:'
        ? 'is not an http URL'
        : address.username || address.password
          ? 'contains a user or a password'
          : address.search || address.hash
            ? 'contains a query or a fragment'
            : null
    if (wrong === null) return value.replace(/\/+$/, '')
    context.addIssue(`${wrong}; write only the address of the platform: https://api.example.com`)
    return z.NEVER
  })

/** Where a rule is in the platform's own console. */
export const PlatformUrl = z
  .string()
  .refine(
    isPlatformPattern,
    'is not a pattern of an https address; write {id}, {account_id} and {folder_id} where a rule has its own: https://app.example.com/monit/rule/{id}',
  )

const MAX_PAGE_LIMIT = 10_000
const PAGE_LIMIT = `is not a page size; write a whole number from 1 to ${MAX_PAGE_LIMIT}`
export const PageLimit = z.int(PAGE_LIMIT).min(1, PAGE_LIMIT).max(MAX_PAGE_LIMIT, PAGE_LIMIT)

/** A page size in an environment variable. */
export const PageLimitText = text(value => sizeOf(value, MAX_PAGE_LIMIT), PAGE_LIMIT)

/** Rows in one import call. The platform's maximum is unknown; a batch that it refuses as too large is halved. */
export const BatchRows = text(
  value => sizeOf(value, MAX_DEFAULT_BATCH_ROWS),
  `is not a number of rows; write a whole number from 1 to ${MAX_DEFAULT_BATCH_ROWS}`,
)

/** Jobs at a time. More than 64 would need more connections than a Postgres usually allows. */
export const Concurrency = text(
  value => (/^[1-9]\d?$/.test(value) && Number(value) <= 64 ? Number(value) : undefined),
  'is not a number of jobs; write a whole number from 1 to 64',
)

export const RowCount = text(
  value => (/^\d{1,9}$/.test(value) ? Number(value) : undefined),
  'is not a number of rows; write a whole number from 0 to 999999999',
)

/** Where HTTP listens. 0 takes a free port. */
export const Port = text(
  value => (/^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? Number(value) : undefined),
  'is not a port; write a whole number from 1 to 65535, or 0 for a free one',
)

export const HttpHost = text(
  value => (isHostOrAddress(value) ? value : undefined),
  'is not an address to listen on; write 127.0.0.1, 0.0.0.0, :: or a host name, without a port',
)

/** Names in lower case, without a port. */
export const HostNames = text(
  value => all(value.split(',').map(name => hostNameOf(name.trim()))),
  'is not a list of host names; write them without http: and port, with commas between: ferry.internal,ferry',
)

const MAX_KEEP_DAYS = 36_500

/** How long rows are kept, in milliseconds; null: forever. */
export const Keep = text(keepMs, `is not a time to keep rows; write 1d to ${MAX_KEEP_DAYS}d, or forever`)

export function quoted(value: unknown): string {
  return JSON.stringify(value)
}

function folderOf(value: string): bigint | undefined {
  return uint64Of(value.trim()) ?? undefined
}

/** A value that `parse` reads from trimmed text. `wrong` says what is wrong with text for which it returns undefined. */
export function text<T>(
  parse: (value: string) => T | undefined,
  wrong: string | ((value: string) => string),
) {
  return z.string().transform((value, context) => {
    const parsed = parse(value.trim())
    if (parsed !== undefined) return parsed
    const why = typeof wrong === 'string' ? wrong : wrong(value.trim())
    context.addIssue(`${quoted(value)} ${why}`)
    return z.NEVER
  })
}

function url(kind: string, protocols: readonly string[], example: string) {
  const isRight = (value: string) => protocols.includes(URL.parse(value)?.protocol ?? '')
  return z.string().refine(isRight, `is not ${kind} URL; write it like ${example}`)
}

function keepMs(value: string): number | null | undefined {
  if (value === 'forever') return null
  const days = /^[1-9]\d{0,4}d$/.test(value) ? Number.parseInt(value, 10) : Number.NaN
  return days <= MAX_KEEP_DAYS ? days * DAY_MS : undefined
}

function durationMs(value: string): number | undefined {
  return isTooLong(value) ? undefined : parseDuration(value) || undefined
}

function isTooLong(duration: string, longestMs = LONGEST_TIMER_MS): boolean {
  return (parseDuration(duration.trim()) ?? 0) > longestMs
}

function windowOf(value: string): LimitWindow | undefined {
  const [, digits, window = ''] = /^\s*(\d{1,9})\/(\S+)\s*$/.exec(value) ?? []
  const maxCalls = Number(digits)
  const windowMs = isTooLong(window, LONGEST_WINDOW_MS) ? undefined : durationMs(window)
  return maxCalls > 0 && windowMs !== undefined ? { maxCalls, windowMs } : undefined
}

function guardOf(value: string): RemovalGuard | undefined {
  const [, rows, percent] = /^(\d{1,9})\s*,\s*(\d{1,3}(?:\.\d+)?)%$/.exec(value) ?? []
  const share = Number(percent) / 100
  return share <= 1 ? { rows: Number(rows), share } : undefined
}

function sizeOf(value: string, max: number): number | undefined {
  return /^[1-9]\d*$/.test(value) && Number(value) <= max ? Number(value) : undefined
}

const HOST_NAME = /^(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i

function hostNameOf(value: string): string | undefined {
  return HOST_NAME.test(value) ? value.toLowerCase() : undefined
}

function isHostOrAddress(value: string): boolean {
  return isIP(value) !== 0 || HOST_NAME.test(value)
}

/** `H` is a time by chance to cron-parser, another one each time it is asked: only in `THU` it is a letter. */
function isCron(value: string): boolean {
  if (value.split(/\s+/).length !== 5 || /(?<![a-z])h/i.test(value)) return false
  try {
    return CronExpressionParser.parse(value).next() !== null
  } catch {
    return false
  }
}

/** `Intl` accepts offsets and abbreviations such as CST too, but programs disagree about what they mean. */
function isTimeZone(value: string): boolean {
  if (value !== 'UTC' && !value.includes('/')) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: value })
    return true
  } catch {
    return false
  }
}

export function all<T>(values: readonly (T | undefined)[]): readonly T[] | undefined {
  const known = values.filter(value => value !== undefined)
  return known.length === values.length ? known : undefined
}

function isFirst<T>(value: T, index: number, values: readonly T[]): boolean {
  return values.indexOf(value) === index
}
