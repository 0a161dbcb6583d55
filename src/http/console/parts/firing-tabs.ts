import { z } from 'zod'
import type { Period } from '#src/reports/firing/period.ts'
import { type Html, html } from '../html.ts'
import { href, type PageRequest, parsedQuery } from '../page.ts'
import { accountFilter, choicesOf } from './account-filter.ts'
import { type Filter, filters } from './filters.ts'

const HOURS = {
  '6': '6 hours',
  '24': '24 hours',
  '72': '3 days',
  '168': '7 days',
  '672': '4 weeks',
  '720': '30 days',
} as const
export type Hours = keyof typeof HOURS

type Tab = {
  readonly name: string
  /** The periods that it can show; the first is shown if the address has none. */
  readonly hours: readonly Hours[]
}

/** The pages about what fires. */
export const FIRING_TABS = {
  '/firing': { name: 'Episodes', hours: ['24', '6', '72', '168', '720'] },
  // The report looks at each episode: of 30 days, it takes longer than a page may.
  '/firing/noisy': { name: 'Noisy rules', hours: ['168', '6', '24', '72'] },
  // Whole weeks: else a weekday would count once more than another.
  '/firing/when': { name: 'Weekday and hour', hours: ['672', '168'] },
  '/firing/silenced': { name: 'Silenced while firing', hours: ['168', '6', '24', '72', '720'] },
  '/firing/load': { name: 'Load by minute', hours: [] },
} as const satisfies Record<string, Tab>
export type FiringPath = keyof typeof FIRING_TABS

export type FiringPeriod = Period & {
  /** `24 hours`. */
  readonly words: string
}

/** The period and the account that the address asks for. Throws `BadQuery`. */
export function periodOf(path: FiringPath, query: URLSearchParams): FiringPeriod {
  const { hours: allowed } = FIRING_TABS[path] as Tab
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

/** The links between these pages, and the choice of the period and the account. What is chosen stays chosen. */
export function firingTabs(path: FiringPath, { query, target }: PageRequest): Html {
  const account = query.get('account') || null
  const asked = query.get('hours')
  return html`<nav aria-label="Firing"><ul class="tabs">${Object.entries(FIRING_TABS).map(
    ([to, { name, hours }]: [string, Tab]) => {
      const kept = hours.find(one => one === asked) ?? null
      return html`<li><a href="${href(to, { hours: kept, account })}"${to === path ? html` aria-current="page"` : null}>${name}</a></li>`
    },
  )}</ul></nav>
${periods(path, asked, account)}
${accountForm(path, query, target.accounts)}`
}

function periods(path: FiringPath, asked: string | null, account: string | null): Html | null {
  const { hours } = FIRING_TABS[path] as Tab
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
  const [usual, ...others] = (FIRING_TABS[path] as Tab).hours
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
