import { z } from 'zod'
import { BATCH_CHOICES, countSentBatches, listBatchesBefore } from '#src/imports/reporting/batches.ts'
import { type FailureRow, listFailures } from '#src/imports/reporting/failures.ts'
import { loadThroughput, type ThroughputMinute } from '#src/imports/reporting/pace.ts'
import { type Progress, progressOf } from '#src/imports/reporting/progress.ts'
import { listReasons, MAX_COUNTED_REASONS, type ReasonRow } from '#src/imports/reporting/reasons.ts'
import { loadSummaryRow, type SummaryRow } from '#src/imports/reporting/summary.ts'
import { isFirstRowsApproval, stepsOf, waitsFor } from '#src/imports/reporting/waits-for.ts'
import { counted, number, share } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import { isActive, isEnded, toBeSent } from '#src/model/import.ts'
import { type ImportAction, isAllowed } from '#src/model/import-moves.ts'
import type { Limit } from '#src/model/limit.ts'
import { stepsBeside, stepsInWords } from '#src/model/next-step.ts'
import { lineChart } from '../charts/line.ts'
import { lastHour, MINUTE_MS } from '../charts/time-axis.ts'
import { type Html, html } from '../html.ts'
import { idOf, type Page, parsedQuery } from '../page.ts'
import { requestId } from '../parts/calls.ts'
import { CursorId, readCursor } from '../parts/paging.ts'
import { facts, table } from '../parts/table.ts'
import { foreign, sentence, time } from '../parts/values.ts'
import type { ConsoleTarget } from '../target.ts'
import { BATCH_ROWS, batchSection, uncertainSection } from './import-batches.ts'
import { funnel } from './import-funnel.ts'
import { statusBadge, whyItWaits } from './imports.ts'

const Query = z.object({ batches: z.enum(BATCH_CHOICES).default('all') })
const Cursor = z.tuple([CursorId])

/** While rows are sent, their numbers change every few seconds; a person who waits looks now and then. */
const REFRESH_EVERY_MS = 10_000
/** Somebody else may decide about an import that waits. */
const WAITING_EVERY_MS = 30_000
/** A chart of the last hour says something about an import until so long after its end. */
const THROUGHPUT_FOR_MS = 3_600_000

/** One import: its rows by outcome, its speed, why it waits, and the possible decisions. */
export const importPage: Page = {
  path: '/imports/:id',
  section: 'imports',
  access: 'read',
  async render({ path, params, query, reader, target }) {
    const id = idOf(params.id)
    const row = id === null ? null : await loadSummaryRow(reader, id)
    if (id === null || !row) return null
    const { batches: choice } = parsedQuery(query, Query)
    const [before] = readCursor(query, Cursor) ?? []
    const limit = importLimitOf(target, row.account)
    const isMoving = isActive(row.status) || (row.status === 'staging' && row.stagedAt === null)
    const [progress, batchesSent, batches, uncertain, reasons, failures, minutes] = await Promise.all([
      progressOf(reader, row, limit, target.personal),
      countSentBatches(reader, id),
      listBatchesBefore(reader, id, {
        choice,
        before: before === undefined ? null : BigInt(before),
        limit: BATCH_ROWS + 1,
      }),
      row.uncertain > 0 ? listBatchesBefore(reader, id, { choice: 'uncertain', limit: BATCH_ROWS }) : [],
      row.read > row.sent + row.pending + row.uncertain ? listReasons(reader, id) : [],
      row.requests > 0 ? listFailures(reader, id) : [],
      isRecent(row) ? loadThroughput(reader, row.account) : null,
    ])
    const { timezone } = target
    return {
      title: `Import ${id}`,
      ...(!isEnded(row.status) && { refreshEveryMs: isMoving ? REFRESH_EVERY_MS : WAITING_EVERY_MS }),
      body: html`${stateOf(row, progress, timezone)}
${facts(factsOf(row, { progress, batchesSent, limit }, timezone))}
<section><h2>Rows</h2>${funnel(id, row.status, progress.summary)}
<p><a href="/imports/${id}/recipient">Look up a recipient</a></p></section>
${uncertainSection(row, uncertain, timezone)}
${minutes && throughputSection(row.account, minutes, timezone)}
${reasonSection(row, reasons)}
${failureSection(failures, timezone)}
${batchSection({ path, query, choice, batches, timezone })}`,
    }
  },
}

/** The limit under which imports of an account are sent; null if this worker does not know the account. */
export function importLimitOf({ limits }: Pick<ConsoleTarget, 'limits'>, account: string): Limit | null {
  return limits.find(one => one.account === account && one.operation === 'import-subscribers')?.limit ?? null
}

function isRecent({ confirmedAt, finishedAt }: SummaryRow): boolean {
  if (confirmedAt === null) return false
  return finishedAt === null || Date.now() - finishedAt.getTime() < THROUGHPUT_FOR_MS
}

/** Its state, why it waits (for a machine or a person), the next commands, and the possible decisions. */
function stateOf(row: SummaryRow, { whyWaiting }: Progress, timezone: string): Html {
  const waits = waitsFor(row)
  const advice = row.status === 'paused' ? row.pauseWhatToDo : null
  const next = stepsInWords(stepsBeside(advice, stepsOf(row)))
  const links = decisionsOf(row).map(
    ({ path, words }) =>
      html`<a class="button${DANGEROUS.has(path) ? ' danger' : ''}" href="/imports/${row.id}/${path}">${words}</a>`,
  )
  return html`<p>${statusBadge(row)} ${foreign(row.file)} → page ${row.pageId} of account ${foreign(row.account)}, by ${foreign(row.method)}</p>
${waits && html`<div class="notice warn"><p>${whyItWaits(waits, timezone)}</p>${advice && html`<p>${sentence(advice)}</p>`}${pauseRequest(row)}</div>`}
${next && html`<p class="notice">${sentence(next)}</p>`}
${whyWaiting && html`<p class="notice">${sentence(whyWaiting)}.</p>`}
${row.purgedAt && html`<p class="notice">Its recipients were purged at ${time(row.purgedAt, timezone)}. Counts, times and request ids are kept.</p>`}
${links.length > 0 ? html`<p class="buttons decisions">${links}</p>` : null}`
}

/** What a person may do with an import in its state. `path` is that of its confirmation, after `/imports/ID/`. */
type Decision = { readonly path: string; readonly words: string }

/** Those that a mistake cannot be mended after: their buttons look so. */
const DANGEROUS: ReadonlySet<string> = new Set(['cancel', 'resolve/sent'])

/** Returns the decisions that the state of an import allows, the most likely first. */
function decisionsOf(row: SummaryRow): Decision[] {
  const decisions: readonly (Decision & { readonly action: ImportAction })[] = [
    { action: 'confirm', path: 'confirm', words: 'Confirm' },
    { action: 'pause', path: 'pause', words: 'Pause' },
    { action: 'resume', path: 'resume', words: isFirstRowsApproval(row) ? 'Approve the rest' : 'Resume' },
    { action: 'resolve', path: 'resolve/sent', words: 'Mark uncertain rows as sent' },
    { action: 'resolve', path: 'resolve/resend', words: 'Send uncertain rows again' },
    { action: 'cancel', path: 'cancel', words: `Cancel import ${row.id}` },
  ]
  return decisions.filter(({ action }) => isAllowed(action, row))
}

function pauseRequest({ status, pauseRequestId: id }: SummaryRow): Html | null {
  if (status !== 'paused' || id === null) return null
  return html`<p>Request id: ${requestId(id)}</p>`
}

function factsOf(
  row: SummaryRow,
  { progress, batchesSent, limit }: { progress: Progress; batchesSent: number; limit: Limit | null },
  timezone: string,
) {
  const { summary, rowsPerMinute, etaMs } = progress
  const all = toBeSent(summary)
  const isUnderWay = isActive(row.status)
  return [
    ['Sent', `${number(summary.sent)} of ${counted(all, 'row')} (${share(summary.sent, all)})`],
    ...(isUnderWay
      ? ([
          ['Rate', rowsPerMinute === null ? null : `${counted(Math.round(rowsPerMinute), 'row')} per minute`],
          ['Time left', etaMs === null ? null : `about ${duration(Math.round(etaMs / 1_000) * 1_000)}`],
        ] as const)
      : []),
    ['Batches sent', `${number(batchesSent)} of ${number(summary.batches)}`],
    ['Calls', number(summary.requests)],
    ['Limit', limit ? limitInWords(limit) : 'unknown: this worker does not have the account'],
    ['After an uncertain outcome', row.onUncertain === 'hold' ? 'a person decides' : 'sent again'],
    ['Created', time(row.createdAt, timezone)],
    ...(row.finishedAt ? [['Ended', time(row.finishedAt, timezone)] as const] : []),
    [isEnded(row.status) ? 'Took' : 'Active for', duration(summary.durationMs)],
  ].map(([name, value]) => [name, value ?? html`<span class="none">unknown so far</span>`] as const)
}

/** `2 calls in 1 s, 20 calls in 1 min`. */
function limitInWords({ windows }: Limit): string {
  return windows
    .map(({ maxCalls, windowMs }) => `${counted(maxCalls, 'call')} in ${duration(windowMs)}`)
    .join(', ')
}

/** Why rows are not sent, in counts: nobody is named. */
function reasonSection(row: SummaryRow, reasons: readonly ReasonRow[]): Html | null {
  if (reasons.length === 0) return null
  const isPart = row.rejected > MAX_COUNTED_REASONS || leftOut(row) > MAX_COUNTED_REASONS
  return html`<section><h2>Rows not sent, and why</h2>
${isPart ? html`<p>Counted over the first ${number(MAX_COUNTED_REASONS)} rejected rows, and as many rows that were left out.</p>` : null}
${table<ReasonRow>(
  'Reasons',
  [
    { head: 'Rows', isNumber: true, cell: ({ rows }) => number(rows) },
    { head: 'What', cell: ({ kind }) => kind },
    { head: 'By', cell: ({ origin }) => foreign(origin) },
    { head: 'Reason', cell: ({ reason }) => foreign(reason) },
  ],
  reasons,
  html`None.`,
)}
${row.rejected > 0 && row.purgedAt === null ? html`<p><code>ferry imports rejects ${row.id} --out rejects.csv</code> writes the rejected rows to a file. Correct it, then import it.</p>` : null}</section>`
}

function leftOut({ duplicate, suppressed, alreadyImported }: SummaryRow): number {
  return duplicate + suppressed + alreadyImported
}

/** Calls that failed for one cause are one row: a platform that was down for an hour fails many. */
function failureSection(failures: readonly FailureRow[], timezone: string): Html | null {
  if (failures.length === 0) return null
  return html`<section><h2>Failed calls, by cause</h2>
${table<FailureRow>(
  'The most frequent first',
  [
    { head: 'Cause', cell: ({ errorCode }) => foreign(errorCode) },
    { head: 'HTTP', isNumber: true, cell: ({ httpStatus }) => httpStatus ?? foreign(null, 'no answer') },
    { head: 'Calls', isNumber: true, cell: ({ calls }) => number(calls) },
    { head: 'Batches', isNumber: true, cell: ({ batches }) => number(batches) },
    { head: 'First', cell: ({ firstAt }) => time(firstAt, timezone) },
    { head: 'Last', cell: ({ lastAt }) => time(lastAt, timezone) },
    {
      head: 'Last request id',
      cell: ({ requestId: last }) => (last === null ? foreign(null) : requestId(last)),
    },
  ],
  failures,
  html``,
)}</section>`
}

/** The calls of the last hour against the limit. */
function throughputSection(account: string, minutes: readonly ThroughputMinute[], timezone: string): Html {
  if (minutes.length === 0) {
    return html`<section><h2>Calls of the last hour</h2>
<p>No import of account ${foreign(account)} made a call in the last hour.</p></section>`
  }
  const calls = new Map(minutes.map(({ minute, calls }) => [minute.getTime(), calls]))
  // With the minute that has begun: after a resume, its calls are what a person waits for.
  const { span, minutes: drawn } = lastHour(
    new Date(Date.now() + MINUTE_MS),
    minutes[0]?.minute ?? new Date(),
  )
  const allowed = Math.max(...minutes.map(minute => minute.allowed ?? 0))
  const rows = minutes.reduce((sum, minute) => sum + minute.rows, 0)
  return html`<section><h2>Calls of the last ${duration(drawn.length * MINUTE_MS)}</h2>
${lineChart({
  id: 'throughput',
  title: 'Calls of all imports of the account, minute by minute',
  unit: 'calls per minute',
  span,
  timezone,
  series: [{ name: 'calls', points: drawn.map(at => ({ at, value: calls.get(at.getTime()) ?? 0 })) }],
  limit: allowed > 0 ? { name: 'limit', value: allowed } : null,
  format: number,
})}<p>The platform accepted ${counted(rows, 'row')} in these calls.</p></section>`
}
