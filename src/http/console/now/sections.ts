import { type WaitsFor, waitsFor } from '#src/imports/reporting/waits-for.ts'
import type { BlindSpot } from '#src/reports/blind-spots.ts'
import { explainLateness, type Freshness, type FreshnessState, isLate } from '#src/reports/freshness.ts'
import type { ScheduleRow } from '#src/schedules/list-schedules.ts'
import { type Html, type HtmlValue, html } from '../html.ts'
import { href } from '../page.ts'
import { rowsInWords } from '../pages/hold.ts'
import { pathOf as pathOfHold } from '../pages/holds.ts'
import { accountOf, outcomeOf } from '../pages/schedules.ts'
import { runLink } from '../parts/runs.ts'
import { sentence } from '../parts/sentence.ts'
import { table } from '../parts/table.ts'
import { badge, duration, foreign, type Tone, time } from '../parts/values.ts'
import { MAX_SHOWN, type NowFacts } from './load-now.ts'

/*
 * The parts of the page Now: each answers one question.
 */

type Decision = {
  readonly what: string
  readonly state: Html | null
  readonly account: string
  readonly why: HtmlValue
  readonly to: string
}

/** What waits for a person, with the page that decides it. Nothing if nothing waits. */
export function decisions({ holds, imports }: NowFacts, timezone: string): Html | null {
  const waiting: Decision[] = [
    ...holds.map(hold => ({
      what: `Removals of ${hold.resource}`,
      state: null,
      account: hold.account,
      why: html`${rowsInWords(hold)} were not listed any more, since ${time(hold.openedAt, timezone)}. Are they gone?`,
      to: pathOfHold(hold),
    })),
    ...imports.flatMap(row => {
      const waits = waitsFor(row)
      if (!waits) return []
      const what = `Import ${row.id}`
      const state = badge('warn', row.status, what)
      return [{ what, state, account: row.account, why: whyOf(waits, timezone), to: `/imports/${row.id}` }]
    }),
  ]
  if (waiting.length === 0) return null
  return table(
    'Decisions that wait',
    [
      { head: 'What', cell: ({ what, state, to }) => html`<a href="${to}">${what}</a> ${state}` },
      { head: 'Account', cell: ({ account }) => foreign(account) },
      { head: 'Why', cell: ({ why }) => html`<span>${why}</span>` },
    ],
    waiting,
    html``,
  )
}

function whyOf({ why, until }: WaitsFor, timezone: string): Html {
  return html`${sentence(why)}${until ? html` It is removed at ${time(until, timezone)}.` : null}`
}

const FRESH_TONES: Readonly<Record<FreshnessState, Tone>> = {
  fresh: 'good',
  late: 'bad',
  never: 'bad',
  'no promise': 'quiet',
}

/** How old each inventory is, and why it is late. */
export function freshness({ inventories }: NowFacts, timezone: string): Html {
  const shown = inventories
    .toSorted((a, b) => Number(isLate(b)) - Number(isLate(a)))
    .slice(0, MAX_INVENTORIES)
  const left = inventories.length - shown.length
  return html`${table<Freshness>(
    'Freshness',
    [
      { head: 'Account', cell: row => foreign(row.account) },
      { head: 'Inventory', cell: row => row.inventory },
      {
        head: 'State',
        cell: row => badge(FRESH_TONES[row.state], row.state, `${row.inventory} of ${row.account}`),
      },
      { head: 'Age', isNumber: true, cell: row => (row.ageMs === null ? '–' : duration(row.ageMs)) },
      {
        head: 'Promised',
        isNumber: true,
        cell: row => (row.promiseMs === null ? '–' : duration(row.promiseMs)),
      },
      { head: 'Last read', cell: row => lastRead(row, timezone) },
      ...(shown.some(isLate) ? [{ head: 'Why late', cell: whyLate }] : []),
    ],
    shown,
    html`No inventory was read so far. A worker reads the first ones when it starts; <code>ferry sync all</code> does it now.`,
  )}${left > 0 ? html`<p>${left} more are not shown: those that are late come first.</p>` : null}`
}

const MAX_INVENTORIES = 50

function lastRead({ lastCompleteAt, lastCompleteRun }: Freshness, timezone: string): HtmlValue {
  if (lastCompleteAt === null) return 'never'
  return html`<span>${time(lastCompleteAt, timezone)} ${lastCompleteRun === null ? null : runLink(lastCompleteRun, `run ${lastCompleteRun}`)}</span>`
}

function whyLate(row: Freshness): HtmlValue {
  const why = explainLateness(row)
  if (why === null) return null
  return html`<span>${sentence(why)} ${linkOf(row)}</span>`
}

/** Where in the console one goes on. */
function linkOf({ whyLate, lastFailedRun, requestId }: Freshness): Html | null {
  switch (whyLate) {
    case 'failed':
    case 'partial':
      return html`${lastFailedRun === null ? null : runLink(lastFailedRun, `Run ${lastFailedRun}`)}${requestId ? html`, <a href="${href('/ledger/calls', { request_id: requestId })}">request_id</a> <code>${requestId}</code>` : null}`
    case 'running':
      return html`<a href="/ledger">Runs</a>`
    case 'paused':
      return html`<a href="/ledger/schedules">Schedules</a>`
    default:
      return null
  }
}

/** Schedules that failed or are paused, then those that are due next. */
export function slots({ schedules }: NowFacts, timezone: string): Html {
  const urgency = ({ paused, lastOutcome }: ScheduleRow) => (lastOutcome === 'failed' ? 0 : paused ? 1 : 2)
  const shown = schedules
    .toSorted((a, b) => urgency(a) - urgency(b) || (a.nextAt?.getTime() ?? 0) - (b.nextAt?.getTime() ?? 0))
    .slice(0, MAX_SHOWN)
  return html`${table<ScheduleRow>(
    'Schedules',
    [
      { head: 'Schedule', cell: row => html`<code>${row.name}</code>` },
      { head: 'Account', cell: row => accountOf(row.account) },
      { head: 'Last', cell: row => time(row.lastSlot, timezone, 'never') },
      { head: 'Outcome', cell: outcomeOf },
      { head: 'Next', cell: row => (row.paused ? badge('warn', 'paused') : time(row.nextAt, timezone)) },
    ],
    shown,
    html`No account is configured.`,
  )}<p><a href="/ledger/schedules">All schedules: pause, resume, run now</a></p>`
}

/** When the data was older than promised in the last day. */
export function blindSpots({ blindSpots }: NowFacts, timezone: string): Html {
  return table<BlindSpot>(
    'Blind spots of the last day',
    [
      { head: 'Account', cell: row => foreign(row.account) },
      { head: 'Inventory', cell: row => row.inventory },
      { head: 'Late from', cell: row => time(row.lateFrom, timezone) },
      {
        head: 'Until',
        cell: row => (row.freshAgainAt ? time(row.freshAgainAt, timezone) : badge('bad', 'still late')),
      },
      { head: 'Error', cell: row => row.errorCode },
    ],
    blindSpots,
    html`In the last day, no inventory was older than promised.`,
  )
}
