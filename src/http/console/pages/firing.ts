import { counted, number } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import { type Blind, listBlind } from '#src/reports/blind.ts'
import {
  type FiredRule,
  type FiredRules,
  loadFiredRules,
  loadLongestFiring,
} from '#src/reports/firing/episodes.ts'
import { ganttChart } from '../charts/gantt.ts'
import { numbersTable } from '../charts/plot.ts'
import { type Html, html } from '../html.ts'
import type { Page } from '../page.ts'
import { inventoryLink, pathOf } from '../parts/changes.ts'
import { barsOf, eventInWords, markOf } from '../parts/firing-strip.ts'
import { type FiringPeriod, firingTabs, periodOf } from '../parts/firing-tabs.ts'
import { historyNote } from '../parts/history-note.ts'
import { nothing, table } from '../parts/table.ts'
import { badge, foreign, time } from '../parts/values.ts'

const PATH = '/firing'
const MAX_RULES = 30
const MAX_LONGEST = 20
/** Of each rule in the table; its own page has all of them. */
const MAX_EVENTS = 3

/** Which rules fired, when, and what changed meanwhile. */
export const firing: Page = {
  path: PATH,
  section: 'firing',
  access: 'read',
  async render(request) {
    const { query, reader, target } = request
    const period = periodOf(PATH, query)
    const span = { from: period.since, to: period.until }
    const [fired, longest, blind] = await Promise.all([
      loadFiredRules(reader, period, MAX_RULES),
      loadLongestFiring(reader, period.account, MAX_LONGEST),
      listBlind(reader, { account: period.account, resource: 'alert-rules' }, span),
    ])
    return {
      title: 'Firing',
      refreshEveryMs: 60_000,
      body: html`${await firingTabs(PATH, request)}
${fired.rules === 0 ? nothingFired(period) : episodes(fired, blind, period, target.timezone)}
${await historyNote(reader, period.since, target.timezone)}
<section id="longest"><h2>Firing longest now</h2>
${table(
  fired.firing > longest.length ? `${longest.length} of ${number(fired.firing)} firing now` : 'Longest first',
  [
    { head: 'Rule', cell: rule => inventoryLink({ ...rule, resource: 'alert-rules' }) },
    { head: 'Since', cell: ({ began }) => time(began, target.timezone) },
    { head: 'For', isNumber: true, cell: ({ firingForMs }) => duration(firingForMs) },
  ],
  longest,
  html`No rule is firing. <a href="/">Now</a> shows whether the alert rules are fresh.`,
)}</section>`,
    }
  },
}

function nothingFired({ words }: FiringPeriod): Html {
  return nothing(
    'Episodes',
    html`No rule was seen firing in the last ${words}. <a href="/">Now</a> shows whether the alert rules are fresh; a longer period shows older episodes.`,
  )
}

function episodes(
  { shown, rules, episodes, firing }: FiredRules,
  blind: readonly Blind[],
  period: FiringPeriod,
  timezone: string,
): Html {
  const others = rules - shown.length
  const span = { from: period.since, to: period.until }
  return html`<p>${counted(rules, 'rule')} fired, in ${counted(episodes, 'episode')}. ${firing > 0 ? html`<a href="#longest">${number(firing)} firing now</a>.` : html`None is firing now.`} ${others > 0 ? html`The chart shows the ${shown.length} that fired longest and leaves out ${counted(others, 'other')}.` : null}</p>
${ganttChart({
  id: 'episodes',
  title: `Episodes of the last ${period.words}`,
  unit: 'a bar is an episode',
  span,
  timezone,
  rows: shown.map(rule => ({
    label: html`<a href="${pathOf('alert-rules', rule.account, rule.id)}">${foreign(rule.name || rule.id)}</a>`,
    summary: summaryOf(rule),
    bars: rule.bars,
    blind: barsOf(
      blind.filter(({ account }) => account === rule.account),
      span,
    ),
    marks: rule.events.map(event => markOf(event, timezone)),
  })),
  numbers: rulesTable(shown, timezone),
})}`
}

function summaryOf({ episodes, firedForMs, isFiring, events }: FiredRule): string {
  const parts = [
    counted(episodes, 'episode'),
    `${duration(firedForMs)} in total`,
    ...(isFiring ? ['firing now'] : []),
    ...(events.length > 0 ? [counted(events.length, 'change')] : []),
  ]
  return `${parts.join(', ')}.`
}

function rulesTable(rules: readonly FiredRule[], timezone: string): Html {
  return numbersTable(
    'Rules that fired longest',
    [
      { head: 'Rule', cell: rule => inventoryLink({ ...rule, resource: 'alert-rules' }) },
      { head: 'Team', cell: ({ team }) => foreign(team) },
      { head: 'Episodes', isNumber: true, cell: rule => number(rule.episodes) },
      { head: 'Fired for', isNumber: true, cell: ({ firedForMs }) => duration(firedForMs) },
      {
        head: 'State',
        cell: ({ isFiring }) => (isFiring ? badge('bad', 'firing') : badge('quiet', 'not firing')),
      },
      { head: 'Changed', cell: rule => eventLinks(rule, timezone) },
    ],
    rules,
  )
}

function eventLinks({ account, id, events }: FiredRule, timezone: string): Html {
  if (events.length === 0) return foreign(null)
  const more = events.length - MAX_EVENTS
  return html`<span>${events
    .slice(-MAX_EVENTS)
    .map(
      event => html`${time(event.at, timezone)} ${foreign(eventInWords(event))}<br>`,
    )}${more > 0 ? html`<a href="${pathOf('alert-rules', account, id)}">${more} earlier</a>` : null}</span>`
}
