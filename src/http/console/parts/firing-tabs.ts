import { z } from 'zod'
import type { Period } from '#src/reports/firing/firings.ts'
import { type Html, html } from '../html.ts'
import { href, type PageRequest, parsedQuery } from '../page.ts'
import { accountFilter, choicesOf, type Filter, filters } from './filters.ts'
import { latenessNote } from './lateness-note.ts'
import { tabs } from './tabs.ts'

const HOURS = {
  '1': '1 hour',
  '6': '6 hours',
  '24': '24 hours',
  '72': '3 days',
  '168': '7 days',
  '672': '4 weeks',
  '720': '30 days',
} as const
type Hours = keyof typeof HOURS

/** The pages about what fires. */
const FIRING_TABS = {
  '/firing': 'Episodes',
  '/firing/noisy': 'Noisy rules',
  '/firing/when': 'Weekday and hour',
  '/firing/silenced': 'Silenced while firing',
  '/firing/never': 'Never fired',
  '/firing/load': 'Load by minute',
} as const
type FiringPath = keyof typeof FIRING_TABS

/** The periods that each page can show; the first is shown if the address has none. */
const PERIODS: Readonly<Record<FiringPath, readonly Hours[]>> = {
  '/firing': ['24', '1', '6', '72', '168', '720'],
  // The report looks at each episode: of 30 days, it takes longer than a page may.
  '/firing/noisy': ['168', '1', '6', '24', '72'],
  // Whole weeks: else a weekday would count once more than another.
  '/firing/when': ['672', '168'],
  '/firing/silenced': ['168', '1', '6', '24', '72', '720'],
  '/firing/never': [],
  '/firing/load': [],
}

export type FiringPeriod = Period & {
  /** `24 hours`. */
  readonly words: string
}

/** The period and the account that the address asks for. Throws `BadQuery`. */
export function periodOf(path: FiringPath, query: URLSearchParams): FiringPeriod {
  const allowed = PERIODS[path]
  const shape = z.object({
    hours: z.enum(allowed).optional(),
    account: z
      .string()
      .max(200)
      .regex(/^[^\0]*$/)
      .optional(),
  })
  const { hours = allowed[0] ?? '24', account = null } = parsedQuery(query, shape)
  const until = new Date()
  const since = new Date(until.getTime() - Number(hours) * 3_600_000)
  return { since, until, account, words: HOURS[hours] }
}

/**
 * The links between these pages, the choice of the period and the account, and what is not up to date: of the account `shown`, if
 * that is another one than was chosen. What is chosen stays chosen.
 */
export async function firingTabs(path: FiringPath, request: PageRequest, shown?: string): Promise<Html> {
  const { query, target } = request
  return html`${firingPages(path, request)}
${periods(path, query.get('hours'), query.get('account') || null)}
${accountForm(path, query, target.accounts)}
${await latenessNote(request, ['alert-rules'], shown)}`
}

/** The links between these pages alone. */
export function firingPages(path: FiringPath, { query }: PageRequest): Html {
  const account = query.get('account') || null
  const asked = query.get('hours')
  const pages = (Object.keys(FIRING_TABS) as FiringPath[]).map(to => ({
    to: href(to, { hours: PERIODS[to].find(one => one === asked) ?? null, account }),
    words: FIRING_TABS[to],
    isHere: to === path,
  }))
  return tabs('Firing', pages)
}

function periods(path: FiringPath, asked: string | null, account: string | null): Html | null {
  const hours = PERIODS[path]
  if (hours.length === 0) return null
  const chosen = asked || hours[0]
  const shown = hours.toSorted((a, b) => Number(a) - Number(b))
  return html`<nav aria-label="Period"><ul class="tabs periods"><li>The last</li>${shown.map(
    one =>
      html`<li><a href="${href(path, { hours: one, account })}"${one === chosen ? html` aria-current="true"` : null}>${HOURS[one]}</a></li>`,
  )}</ul></nav>`
}

/** Only where there is something to choose. A form forgets what it has no field for, so it has one for the period. */
function accountForm(path: FiringPath, query: URLSearchParams, accounts: readonly string[]): Html | null {
  if (accounts.length < 2 && !query.get('account')) return null
  const [usual, ...others] = PERIODS[path]
  const period: Filter[] = usual
    ? [{ name: 'hours', label: 'Period', kind: 'choice', choices: wordsOf(others), any: HOURS[usual] }]
    : []
  return filters(path, query, [accountField(path, query, accounts), ...period])
}

function wordsOf(hours: readonly Hours[]): Readonly<Record<string, string>> {
  return Object.fromEntries(hours.map(one => [one, HOURS[one]]))
}

/** The load is of one account: minutes of several are no load on anything. */
function accountField(path: FiringPath, query: URLSearchParams, accounts: readonly string[]): Filter {
  const [first, ...others] = accounts
  if (path !== '/firing/load' || first === undefined) return accountFilter(accounts, query)
  const names = new Set([...others, query.get('account') || first])
  names.delete(first)
  return { name: 'account', label: 'Account', kind: 'choice', choices: choicesOf([...names]), any: first }
}
