import type { Pool } from 'pg'
import { list, partOf } from '#src/db/list.ts'
import { listRunsOfSlots } from '#src/inventory/runs/runs-of-slots.ts'
import { duration } from '#src/model/duration.ts'
import { pauseSchedule, requestRun, resumeSchedule } from '#src/schedules/control.ts'
import { EVERY_ACCOUNT, type Schedule } from '#src/schedules/definition.ts'
import { listSchedules, type ScheduleRow } from '#src/schedules/list-schedules.ts'
import { listRecentSlots, type RecentSlot } from '#src/schedules/recent-slots.ts'
import { type Html, type HtmlValue, html } from '../html.ts'
import type { Action, Confirmation, PageRequest } from '../page.ts'
import { listPage } from '../parts/list-page.ts'
import { runBadge, runTone } from '../parts/runs.ts'
import { ledgerTabs } from '../parts/tabs.ts'
import { ago, badge, foreign, inZone, time } from '../parts/values.ts'

const PATH = '/ledger/schedules'

/** Two weeks of nights. */
const STRIP_SLOTS = 14
/** Each row has a strip. */
const PAGE_ROWS = 25

/** The schedules of this worker by account and name. */
function scheduleListOf(schedules: readonly Schedule[]) {
  return list({
    caption: 'Schedules',
    filters: {},
    order: ['text', 'text'],
    async load(pool, { after, limit }) {
      const left = schedules
        .toSorted(byAccountAndName)
        .filter(({ account, schedule }) => !after || compare([account, schedule], after) > 0)
      const rows = await listSchedules(pool, left.slice(0, limit + 1))
      const slots = await listRecentSlots(pool, left.slice(0, limit), STRIP_SLOTS)
      return {
        ...partOf(rows, limit, ({ account, name }) => [account, name]),
        slots: await withRuns(pool, slots),
      }
    },
    columns: {
      schedule: row => row.name,
      account: row => row.account,
      every: row => (row.everyMs === null ? null : { ms: row.everyMs }),
      cron: row => row.cron,
      last: row => row.lastSlot,
      outcome: row => row.lastOutcome,
      paused: row => row.paused,
      next: row => row.nextAt,
    },
    none: 'No account is configured. Set `FERRY_APP_KEY` or `FERRY_ACCOUNTS_FILE`.',
  })
}

export const schedules = listPage({
  path: PATH,
  section: 'ledger',
  title: 'Schedules',
  list: ({ target }) => scheduleListOf(target.schedules),
  rows: PAGE_ROWS,
  beside: ({ target: { timezone } }, { rows, slots }) => ({
    refreshEveryMs: rows.some(isOpen) ? 10_000 : 30_000,
    above: html`${ledgerTabs(PATH)}
<p>What Ferry does automatically, and when, for the accounts in the settings of this worker.</p>`,
    columns: [
      { head: 'Schedule', cell: row => html`<code>${row.name}</code>` },
      { head: 'Account', cell: row => accountOf(row.account) },
      { head: 'When', cell: timingOf },
      { head: 'Last', cell: row => ago(row.lastSlot, timezone, 'never') },
      { head: 'Outcome', cell: row => outcomeOf(row) },
      { head: 'Runs', cell: row => strip(row, slots, timezone) },
      { head: 'Next', cell: row => (row.paused ? badge('warn', 'paused') : time(row.nextAt, timezone)) },
      { head: 'Decide', cell: decisions },
    ],
  }),
})

/** A slot, with a run that it started. */
type Slot = RecentSlot & { readonly run: bigint | undefined }

async function withRuns(pool: Pool, slots: readonly RecentSlot[]): Promise<Slot[]> {
  const runs = await listRunsOfSlots(pool, slots)
  const keyOf = ({ account, slot }: Pick<Slot, 'account' | 'slot'>) => JSON.stringify([account, slot])
  const runOf = new Map(runs.map(one => [keyOf(one), one.run]))
  return slots.map(slot => ({ ...slot, run: runOf.get(keyOf(slot)) }))
}

/** The last slots of a schedule as cells, the oldest first; each leads to its run, or to what else happened then. */
function strip({ name, account }: ScheduleRow, slots: readonly Slot[], timezone: string): Html {
  const own = slots.filter(one => one.schedule === name && one.account === account)
  return html`<span class="slots">${own.map(({ slot, outcome, run }) => {
    const word = outcome ?? 'pending'
    const words = `${word}, ${inZone(slot, timezone)}`
    const to = run === undefined ? `/at/${slot.toISOString()}` : `/ledger/runs/${run}`
    return html`<a class="${runTone(word)}" href="${to}" title="${words}" aria-label="${words}">${MARKS[word] ?? '·'}</a>`
  })}</span>`
}

/** A letter besides the color. */
const MARKS: Readonly<Partial<Record<string, string>>> = {
  failed: '×',
  partial: '!',
  held: '!',
  skipped: '–',
}

/** What came of the last slot of a schedule. */
export function outcomeOf(row: ScheduleRow): HtmlValue {
  const { name, account, lastOutcome } = row
  const word = row.lastSlot === null ? 'never run' : (lastOutcome ?? 'pending')
  return runBadge(word, `${name} of ${account}`)
}

/** Its last slot is under way, or waits to be tried again. */
function isOpen({ lastSlot, lastOutcome }: ScheduleRow): boolean {
  return lastSlot !== null && lastOutcome === null
}

function timingOf({ everyMs, cron, timezone }: ScheduleRow): HtmlValue {
  return everyMs === null ? html`<span><code>${cron}</code> ${timezone}</span>` : `every ${duration(everyMs)}`
}

function decisions({ name, account, paused }: ScheduleRow): Html {
  const to = (verb: string, words: string) =>
    html`<a href="${pathOf(name, account, verb)}" aria-label="${words} ${name} of ${inWords(account)}">${words}</a>`
  return html`<span class="choices">${paused ? to('resume', 'Resume') : to('pause', 'Pause')} ${to('run', 'Run now')}</span>`
}

function pathOf(name: string, account: string, verb: string): string {
  return `${PATH}/${encodeURIComponent(name)}/${encodeURIComponent(account)}/${verb}`
}

/** The account of a schedule: an account, or all of them. */
export function accountOf(account: string): HtmlValue {
  return account === EVERY_ACCOUNT ? 'all' : foreign(account)
}

function inWords(account: string): string {
  return account === EVERY_ACCOUNT ? 'all accounts' : account
}

/** What a schedule does, and what follows while it is paused. */
const WORK: Readonly<Partial<Record<string, { does: string; paused: string }>>> = {
  'poll-alert-rules': {
    does: 'It reads the alert rules of the account, and which of them fire.',
    paused:
      'Until then changes of alert rules are found by the nightly snapshot only, and firings between two readings are not seen. The inventory gets older, and is shown as late.',
  },
  'poll-mcp-servers': {
    does: 'It reads the MCP servers of the account.',
    paused:
      'Until then changes of MCP servers are found by the nightly snapshot only. The inventory gets older, and is shown as late.',
  },
  'snapshot-inventory': {
    does: 'It reads both inventories of the account, and takes a snapshot of them.',
    paused: 'Until then no snapshot is taken. The nights without one cannot be made up for.',
  },
  prune: {
    does: 'It removes rows that are older than the settings FERRY_KEEP_… allow. This cannot be undone.',
    paused: 'Until then old rows stay, and the database grows.',
  },
}

type Change = {
  readonly verb: 'pause' | 'resume' | 'run'
  readonly button: string
  willHappen(row: ScheduleRow, timezone: string): Html
  readonly act: typeof pauseSchedule | typeof resumeSchedule | typeof requestRun
}

const CHANGES: readonly Change[] = [
  {
    verb: 'pause',
    button: 'Pause',
    act: pauseSchedule,
    willHappen: ({ name, paused }) =>
      paused
        ? html`<p>It is already paused.</p>`
        : html`<p>It stops until somebody resumes it. A run in progress finishes as usual.</p>
<p>${WORK[name]?.paused}</p>`,
  },
  {
    verb: 'resume',
    button: 'Resume',
    act: resumeSchedule,
    willHappen: ({ paused }) =>
      paused
        ? html`<p>It runs at its times again. If its last time was missed recently, it runs at once.</p>`
        : html`<p>It is not paused: this changes nothing.</p>`,
  },
  {
    verb: 'run',
    button: 'Run now',
    act: requestRun,
    willHappen: ({ name, account, paused, nextAt }, timezone) =>
      html`<p>${WORK[name]?.does}</p>
<p>A worker runs it once, within seconds. ${
        paused
          ? 'It stays paused after that.'
          : html`Its next time does not change: ${time(nextAt, timezone)}.`
      }</p>
<p>If ${account === EVERY_ACCOUNT ? 'it is already running' : 'the same inventory is already being read'}, this run is skipped.</p>`,
  },
]

export const SCHEDULE_ACTIONS: readonly Action[] = CHANGES.map(({ verb, button, act, willHappen }) => ({
  path: `${PATH}/:name/:account/${verb}`,
  section: 'ledger',
  backFrom: () => PATH,
  async confirm(request): Promise<Confirmation | null> {
    const schedule = scheduleOf(request)
    if (!schedule) return null
    const [row] = await listSchedules(request.reader, [schedule])
    if (!row) return null
    const title = `${button}: ${schedule.schedule} of ${inWords(schedule.account)}?`
    const isDangerous = verb === 'run' && row.name === 'prune'
    return { title, button, isDangerous, back: PATH, body: willHappen(row, request.target.timezone) }
  },
  async act(request, by) {
    const { pool, schedules } = request.target
    await act(pool, schedules, request.params.name ?? '', request.params.account, by)
    return PATH
  },
}))

function scheduleOf({ params, target }: PageRequest): Schedule | undefined {
  return target.schedules.find(one => one.schedule === params.name && one.account === params.account)
}

function byAccountAndName(a: Schedule, b: Schedule): number {
  return compare([a.account, a.schedule], [b.account, b.schedule])
}

function compare([a, b]: readonly [string, string], [c, d]: readonly [string, string]): number {
  const order = (x: string, y: string) => (x < y ? -1 : x > y ? 1 : 0)
  return order(a, c) || order(b, d)
}
