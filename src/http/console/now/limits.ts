import { counted, number } from '#src/model/counted.ts'
import type { LimitMinute } from '#src/reports/now.ts'
import { lineChart } from '../charts/line.ts'
import { lastHour } from '../charts/time-axis.ts'
import { type Html, html } from '../html.ts'
import { atMost, folded, table } from '../parts/table.ts'
import { badge, foreign } from '../parts/values.ts'
import type { ConsoleTarget } from '../target.ts'
import { MAX_SHOWN, type NowFacts } from './load-now.ts'

/** One limit in the last hour. */
type Use = {
  readonly operation: string
  readonly account: string
  readonly calls: number
  /** Of the fullest minute, 0 to 1; null if nobody has said how many calls are allowed. */
  readonly highest: number | null
  readonly refused: number
  readonly minutes: readonly LimitMinute[]
}

/** How much of each limit was used in the last hour: a line for the fullest, numbers for all. */
export function limits(
  { limits }: NowFacts,
  { limits: configured, timezone }: Pick<ConsoleTarget, 'limits' | 'timezone'>,
  now: Date,
): Html {
  const uses = usesOf(limits, configured)
  const rows = atMost(MAX_SHOWN, uses, fullest =>
    table<Use>(
      'Calls of the last hour',
      [
        { head: 'Operation', cell: row => html`<code>${row.operation}</code>` },
        { head: 'Account', cell: row => foreign(row.account) },
        { head: 'Calls', isNumber: true, cell: row => number(row.calls) },
        { head: 'Fullest minute', isNumber: true, cell: row => percent(row.highest) },
        {
          head: '429',
          isNumber: true,
          cell: row => (row.refused === 0 ? '0' : badge('warn', number(row.refused))),
        },
      ],
      fullest,
      html`No calls to the platform in the last hour.`,
    ),
  )
  const refused = uses.reduce((sum, use) => sum + use.refused, 0)
  const isTight = refused > 0 || uses.some(({ highest }) => (highest ?? 0) >= SHOW_LIMIT_FROM)
  const shown = html`${chartOf(uses, timezone, now)}
${rows}`
  if (isTight || uses.length === 0) return shown
  const calls = uses.reduce((sum, use) => sum + use.calls, 0)
  return folded('calls', `${counted(calls, 'call')} in the last hour, far from the limits`, shown)
}

/** The fullest first. A minute names the accounts that called in it: those that share a limit need not all be among them. */
function usesOf(minutes: readonly LimitMinute[], configured: ConsoleTarget['limits']): Use[] {
  const keyOf = ({ operation, account }: LimitMinute) => {
    const names = account.split(', ')
    const known = configured.find(one => one.operation === operation && names.includes(one.account))
    return JSON.stringify([operation, known?.limit.limitKey ?? account])
  }
  const uses = [...Map.groupBy(minutes, keyOf).values()].flatMap(of => (of[0] ? [useOf(of[0], of)] : []))
  return uses.toSorted((a, b) => (b.highest ?? 0) - (a.highest ?? 0))
}

function useOf({ operation }: LimitMinute, minutes: readonly LimitMinute[]): Use {
  const names = minutes.flatMap(({ account }) => account.split(', '))
  const account = [...new Set(names)].sort().join(', ')
  const sum = (of: 'calls' | 'refused') => minutes.reduce((before, minute) => before + minute[of], 0)
  const shares = minutes.flatMap(({ share }) => share ?? [])
  const highest = shares.length > 0 ? Math.max(...shares) : null
  return { operation, account, calls: sum('calls'), highest, refused: sum('refused'), minutes }
}

/** More lines than that are hard to tell apart. */
const MAX_LINES = 4
/** Below this share, the line of the limit would press all others to the ground. */
const SHOW_LIMIT_FROM = 0.5

function chartOf(uses: readonly Use[], timezone: string, now: Date): Html | null {
  const drawn = uses.filter(({ highest }) => highest !== null).slice(0, MAX_LINES)
  if (drawn.length === 0) return null
  // Without the minute that has begun: it would look as if calls had become fewer.
  const { span, minutes } = lastHour(now, firstOf(drawn))
  const highest = Math.max(...drawn.map(use => use.highest ?? 0))
  return lineChart({
    id: 'limit-use',
    title: 'Limits used in the last hour',
    unit: 'of the calls allowed in a minute',
    span,
    timezone,
    series: drawn.map(use => {
      const shares = new Map(use.minutes.map(({ minute, share }) => [minute.getTime(), share]))
      return {
        name: `${use.operation} of ${use.account}`,
        points: minutes.map(at => ({ at, value: shares.get(at.getTime()) ?? 0 })),
      }
    }),
    limit: highest >= SHOW_LIMIT_FROM ? { name: 'limit', value: 1 } : null,
    format: percent,
  })
}

/** When the first call of the hour was made: an hour in which Ferry did not run yet would only press the lines together. */
function firstOf(uses: readonly Use[]): Date {
  return new Date(Math.min(...uses.flatMap(use => use.minutes.map(({ minute }) => minute.getTime()))))
}

function percent(share: number | null): string {
  if (share === null) return '–'
  const hundredths = share * 100
  return `${hundredths > 0 && hundredths < 10 ? hundredths.toFixed(1) : Math.round(hundredths)} %`
}
