import { z } from 'zod'
import { pauseSchedule, requestRun, resumeSchedule } from '#src/schedules/control.ts'
import { EVERY_ACCOUNT, type Schedule } from '#src/schedules/definition.ts'
import { listSchedules, type ScheduleRow } from '#src/schedules/list-schedules.ts'
import { type Html, type HtmlValue, html } from '../html.ts'
import type { Action, Confirmation, Page, PageRequest } from '../page.ts'
import { ledgerTabs } from '../parts/ledger-tabs.ts'
import { PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { badge, duration, foreign, type Tone, time } from '../parts/values.ts'

const PATH = '/ledger/schedules'

const Cursor = z.tuple([z.string(), z.string()])

const list: Page = {
  path: PATH,
  section: 'ledger',
  access: 'read',
  async render({ reader, target, query }) {
    const after = readCursor(query, Cursor)
    const all = target.schedules.toSorted(byAccountAndName)
    const left = all.filter(({ account, schedule }) => !after || compare([account, schedule], after) > 0)
    const shown = left.slice(0, PAGE_ROWS)
    const last = left.length > PAGE_ROWS ? shown.at(-1) : undefined
    const rows = await listSchedules(reader, shown)
    return {
      title: 'Schedules',
      refreshEveryMs: rows.some(isOpen) ? 10_000 : 30_000,
      body: html`${ledgerTabs(PATH)}
<p>What Ferry does by itself, and when. These are the schedules of the accounts in the settings of this worker.</p>
${table('Schedules', columns(target.timezone), rows, html`No account is configured. Set <code>FERRY_APP_KEY</code> or <code>FERRY_ACCOUNTS_FILE</code>.`)}
${pager(PATH, query, last ? writeCursor([last.account, last.schedule]) : null)}`,
    }
  },
}

function columns(timezone: string): Column<ScheduleRow>[] {
  return [
    { head: 'Schedule', cell: row => html`<code>${row.name}</code>` },
    { head: 'Account', cell: row => accountOf(row.account) },
    { head: 'When', cell: timingOf },
    { head: 'Last', cell: row => time(row.lastSlot, timezone, 'never') },
    { head: 'Outcome', cell: row => outcomeOf(row) },
    { head: 'Next', cell: row => (row.paused ? badge('warn', 'paused') : time(row.nextAt, timezone)) },
    { head: 'Decide', cell: decisions },
  ]
}

/** What came of the last slot of a schedule. */
export function outcomeOf(row: ScheduleRow): HtmlValue {
  const { name, account, lastOutcome } = row
  if (row.lastSlot === null) return badge('quiet', 'none yet', `${name} of ${account}`)
  return badge(TONES[lastOutcome ?? ''] ?? 'quiet', lastOutcome ?? 'not done yet', `${name} of ${account}`)
}

const TONES: Readonly<Record<string, Tone>> = {
  succeeded: 'good',
  partial: 'warn',
  held: 'warn',
  failed: 'bad',
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
    willHappen: ({ paused }) =>
      paused
        ? html`<p>It is paused already.</p>`
        : html`<p>It does not run any more until somebody resumes it. What is under way ends as usual.</p>
<p>What it keeps fresh gets old meanwhile, and is shown as late.</p>`,
  },
  {
    verb: 'resume',
    button: 'Resume',
    act: resumeSchedule,
    willHappen: ({ paused }) =>
      paused
        ? html`<p>It runs again at its times. Its last time, if it was missed not long ago, is made up for at once.</p>`
        : html`<p>It is not paused: this changes nothing.</p>`,
  },
  {
    verb: 'run',
    button: 'Run now',
    act: requestRun,
    willHappen: ({ account, paused, nextAt }, timezone) =>
      html`<p>A worker runs it once, within seconds. ${
        paused
          ? 'It stays paused after that.'
          : html`Its next time stays as it is: ${time(nextAt, timezone)}.`
      }</p>
<p>If ${account === EVERY_ACCOUNT ? 'it is under way' : 'the same inventory is being read'} at that moment, this run is skipped.</p>`,
  },
]

const actions: readonly Action[] = CHANGES.map(({ verb, button, act, willHappen }) => ({
  path: `${PATH}/:name/:account/${verb}`,
  section: 'ledger',
  backFrom: () => PATH,
  async confirm(request): Promise<Confirmation | null> {
    const schedule = scheduleOf(request)
    if (!schedule) return null
    const [row] = await listSchedules(request.reader, [schedule])
    if (!row) return null
    const title = `${button}: ${schedule.schedule} of ${inWords(schedule.account)}?`
    return { title, button, back: PATH, body: willHappen(row, request.target.timezone) }
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

export const SCHEDULE_PAGES: readonly Page[] = [list]
export const SCHEDULE_ACTIONS: readonly Action[] = actions
