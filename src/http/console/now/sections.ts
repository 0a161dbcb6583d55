import { waitsFor } from '#src/imports/reporting/waits-for.ts'
import { counted, number } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import { explainLateness, type Freshness, type FreshnessState, isLate } from '#src/reports/freshness.ts'
import type { BlindSpot } from '#src/reports/now.ts'
import type { ScheduleRow } from '#src/schedules/list-schedules.ts'
import { type Html, type HtmlValue, html } from '../html.ts'
import { rowsInWords } from '../pages/hold.ts'
import { HOLDS, pathOf as pathOfHold } from '../pages/holds.ts'
import { statusBadge, whyItWaits } from '../pages/imports.ts'
import { accountOf, outcomeOf } from '../pages/schedules.ts'
import { requestId } from '../parts/calls.ts'
import { runLink } from '../parts/runs.ts'
import { atMost, table, wrongFirst } from '../parts/table.ts'
import { ago, badge, foreign, sentence, type Tone, time } from '../parts/values.ts'
import { areDecisionsCut, MAX_SHOWN, type NowFacts } from './load-now.ts'

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

/** The pending decisions, each with its page. Null if there are none. */
export function decisions({ holds, imports }: NowFacts, timezone: string): Html | null {
  const waiting: Decision[] = [
    ...holds.map(hold => ({
      what: `Removals of ${hold.resource}`,
      state: null,
      account: hold.account,
      why: html`${rowsInWords(hold)} missing from the listing since ${time(hold.openedAt, timezone)}. Remove or keep?`,
      to: pathOfHold(hold),
    })),
    ...imports.flatMap(row => {
      const waits = waitsFor(row)
      if (!waits) return []
      const { id, account } = row
      const why = whyItWaits(waits, timezone)
      return [{ what: `Import ${id}`, state: statusBadge(row), account, why, to: `/imports/${id}` }]
    }),
  ]
  if (waiting.length === 0) return null
  return html`${table(
    'Pending decisions',
    [
      { head: 'What', cell: ({ what, state, to }) => html`<a href="${to}">${what}</a> ${state}` },
      { head: 'Account', cell: ({ account }) => foreign(account) },
      { head: 'Why', cell: ({ why }) => html`<span>${why}</span>` },
    ],
    waiting,
    html``,
  )}${areDecisionsCut({ holds, imports }) ? html`<p>There may be more: <a href="${HOLDS}">all holds</a>, <a href="/imports">all imports</a>.</p>` : null}`
}

const FRESH_TONES: Readonly<Record<FreshnessState, Tone>> = {
  fresh: 'good',
  late: 'bad',
  never: 'bad',
  'no target': 'quiet',
}

/** How old each inventory is, and why it is late. */
export function freshness({ inventories }: NowFacts, timezone: string): Html {
  return wrongFirst('fresh', inventories, { isWrong: row => isLate(row), others: freshInWords }, rows =>
    atMost(MAX_INVENTORIES, rows, shown => freshnessTable(shown, timezone)),
  )
}

function freshInWords(inventories: readonly Freshness[]): string {
  const fresh = inventories.filter(({ state }) => state === 'fresh').length
  const rest = inventories.length - fresh
  return [
    fresh > 0 ? `${counted(fresh, 'inventory', 'inventories')} fresh` : '',
    rest > 0 ? `${number(rest)} without a freshness target` : '',
  ]
    .filter(Boolean)
    .join(', ')
}

function freshnessTable(inventories: readonly Freshness[], timezone: string): Html {
  return table<Freshness>(
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
        head: 'Target',
        isNumber: true,
        cell: row => (row.targetMs === null ? '–' : duration(row.targetMs)),
      },
      { head: 'Last read', cell: row => lastRead(row, timezone) },
      ...(inventories.some(isLate) ? [{ head: 'Why it is late', cell: whyLate }] : []),
    ],
    inventories,
    html`No inventory has been read yet. A worker reads them when it starts; <code>ferry sync all</code> reads them now.`,
  )
}

const MAX_INVENTORIES = 50

function lastRead({ lastCompleteAt, lastCompleteRun }: Freshness, timezone: string): HtmlValue {
  if (lastCompleteAt === null) return 'never'
  return html`<span>${ago(lastCompleteAt, timezone)} ${lastCompleteRun === null ? null : runLink(lastCompleteRun, `run ${lastCompleteRun}`)}</span>`
}

function whyLate(row: Freshness): HtmlValue {
  const why = explainLateness(row)
  if (why === null) return null
  return html`<span>${sentence(why)} ${linkOf(row)}</span>`
}

/** Where in the console to continue. */
function linkOf({ whyLate, lastFailedRun, requestId: id }: Freshness): Html | null {
  switch (whyLate) {
    case 'failed':
    case 'partial':
      return html`${lastFailedRun === null ? null : runLink(lastFailedRun, `Run ${lastFailedRun}`)}${id ? html`, request id ${requestId(id)}` : null}`
    case 'running':
      return html`<a href="/ledger">Runs</a>`
    case 'paused':
      return html`<a href="/ledger/schedules">Schedules</a>`
    default:
      return null
  }
}

/** Schedules that failed or are paused; the others fold away, those first that are due next. */
export function slots({ schedules }: NowFacts, timezone: string): Html {
  const urgency = ({ paused, lastOutcome }: ScheduleRow) => (lastOutcome === 'failed' ? 0 : paused ? 1 : 2)
  const isWrong = (row: ScheduleRow) => urgency(row) < 2
  const next = schedules.toSorted(
    (a, b) => urgency(a) - urgency(b) || (a.nextAt?.getTime() ?? 0) - (b.nextAt?.getTime() ?? 0),
  )
  const others = (rows: readonly ScheduleRow[]) =>
    `${counted(rows.length, 'schedule')} neither failed nor paused`
  return wrongFirst(
    'schedules',
    next,
    { isWrong, others },
    rows =>
      html`${table<ScheduleRow>(
        'Schedules',
        [
          { head: 'Schedule', cell: row => html`<code>${row.name}</code>` },
          { head: 'Account', cell: row => accountOf(row.account) },
          { head: 'Last', cell: row => ago(row.lastSlot, timezone, 'never') },
          { head: 'Outcome', cell: outcomeOf },
          { head: 'Next', cell: row => (row.paused ? badge('warn', 'paused') : time(row.nextAt, timezone)) },
        ],
        rows.slice(0, MAX_SHOWN),
        html`No account is configured.`,
      )}<p><a href="/ledger/schedules">All schedules: pause, resume, run now</a></p>`,
  )
}

/** When the data was older than its freshness target in the last day. */
export function blindSpots({ blindSpots }: NowFacts, timezone: string): Html {
  if (blindSpots.length === 0)
    return html`<p class="quiet">In the last day, no inventory was older than its freshness target since it was first read.</p>`
  const isMore = blindSpots.length >= MAX_SHOWN
  return html`${table<BlindSpot>(
    'Blind spots of the last day',
    [
      { head: 'Account', cell: row => foreign(row.account) },
      { head: 'Inventory', cell: row => row.inventory },
      { head: 'Late from', cell: row => ago(row.lateFrom, timezone) },
      {
        head: 'Until',
        cell: row => (row.freshAgainAt ? ago(row.freshAgainAt, timezone) : badge('bad', 'still late')),
      },
      ...(blindSpots.some(({ errorCode }) => errorCode !== null)
        ? [{ head: 'Error', cell: (row: BlindSpot) => foreign(row.errorCode) }]
        : []),
    ],
    blindSpots,
    html``,
  )}${isMore ? html`<p>There may be earlier ones: <code>ferry report blind_spots --since 1d</code> lists all.</p>` : null}`
}
