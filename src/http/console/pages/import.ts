import { z } from 'zod'
import { BATCH_CHOICES, listBatchesBefore } from '#src/imports/reporting/batches.ts'
import { type Progress, progressOf } from '#src/imports/reporting/progress.ts'
import { listReasons } from '#src/imports/reporting/reasons.ts'
import { loadSummaryRow, type SummaryRow } from '#src/imports/reporting/summary.ts'
import { loadThroughput } from '#src/imports/reporting/throughput.ts'
import { waitsFor } from '#src/imports/reporting/waits-for.ts'
import { counted, number } from '#src/model/counted.ts'
import { isActive, isEnded, toBeSent } from '#src/model/import.ts'
import type { Limit } from '#src/model/limit.ts'
import { type Html, html } from '../html.ts'
import { idOf, type Page, parsedQuery } from '../page.ts'
import { readCursor } from '../parts/paging.ts'
import { sentence } from '../parts/sentence.ts'
import { facts } from '../parts/table.ts'
import { duration, foreign, share, time } from '../parts/values.ts'
import type { ConsoleTarget } from '../target.ts'
import { BATCH_ROWS, batchSection, uncertainSection } from './import-batches.ts'
import { decisionsOf } from './import-decisions.ts'
import { funnel } from './import-funnel.ts'
import { reasonSection } from './import-reasons.ts'
import { throughputSection } from './import-throughput.ts'
import { statusBadge } from './imports.ts'

const Query = z.object({ batches: z.enum(BATCH_CHOICES).default('all') })
const Cursor = z.tuple([z.string().regex(/^\d{1,18}$/)])

/** While rows are sent, their numbers change every few seconds; a person who waits looks now and then. */
const REFRESH_EVERY_MS = 10_000
/** Somebody else may decide about an import that waits. */
const WAITING_EVERY_MS = 30_000
/** A chart of the last hour says something about an import until so long after its end. */
const THROUGHPUT_FOR_MS = 3_600_000

/** One import: what became of its rows, how fast it is, why it waits, and what a person may decide. */
const page: Page = {
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
    const isMoving = isActive(row.status) || (row.status === 'staging' && row.staged_at === null)
    const [progress, batches, uncertain, reasons, minutes] = await Promise.all([
      progressOf(reader, row, limit, target.personal),
      listBatchesBefore(reader, id, {
        choice,
        before: before === undefined ? null : BigInt(before),
        limit: BATCH_ROWS + 1,
      }),
      row.uncertain > 0 ? listBatchesBefore(reader, id, { choice: 'uncertain', limit: BATCH_ROWS }) : [],
      row.read > row.sent + row.pending + row.uncertain ? listReasons(reader, id) : [],
      isRecent(row) ? loadThroughput(reader, row.account) : null,
    ])
    const { timezone } = target
    return {
      title: `Import ${id}`,
      ...(!isEnded(row.status) && { refreshEveryMs: isMoving ? REFRESH_EVERY_MS : WAITING_EVERY_MS }),
      body: html`${stateOf(row, progress, timezone)}
${facts(factsOf(row, progress, limit, timezone))}
<section><h2>Rows</h2>${funnel(id, progress.summary)}
<p><a href="/imports/${id}/recipient">What became of one recipient?</a></p></section>
${uncertainSection(row, uncertain, timezone)}
${minutes && throughputSection(row.account, minutes, timezone)}
${reasonSection(row, reasons)}
${batchSection({ path, query, choice, batches, timezone })}`,
    }
  },
}

/** The limit under which imports of an account are sent; null if this worker does not know the account. */
export function importLimitOf({ limits }: Pick<ConsoleTarget, 'limits'>, account: string): Limit | null {
  return limits.find(one => one.account === account && one.operation === 'import-subscribers')?.limit ?? null
}

function isRecent({ confirmed_at, finished_at }: SummaryRow): boolean {
  if (confirmed_at === null) return false
  return finished_at === null || Date.now() - finished_at.getTime() < THROUGHPUT_FOR_MS
}

/** Its state, why it waits, for a machine or for a person, and the decisions that are possible. */
function stateOf(row: SummaryRow, { whyWaiting }: Progress, timezone: string): Html {
  const waits = waitsFor(row)
  const links = decisionsOf(row).map(
    ({ path, words }) => html`<a class="button" href="/imports/${row.id}/${path}">${words}</a>`,
  )
  return html`<p>${statusBadge(row)} ${foreign(row.file)} → page ${row.page_id} of account ${foreign(row.account)}, by ${foreign(row.method)}</p>
${waits && html`<div class="notice warn"><p>${sentence(waits.why)}${waits.until && html` It is removed at ${time(waits.until, timezone)}.`}</p>${pauseDetails(row)}</div>`}
${whyWaiting && html`<p class="notice">${sentence(whyWaiting)}.</p>`}
${row.purged_at && html`<p class="notice">Its recipients were purged at ${time(row.purged_at, timezone)}. Numbers, times and request ids stay.</p>`}
${links.length > 0 ? html`<p class="buttons decisions">${links}</p>` : null}`
}

function pauseDetails({ status, pause_what_to_do, pause_request_id }: SummaryRow): Html | null {
  if (status !== 'paused') return null
  return html`${pause_what_to_do ? html`<p>${sentence(pause_what_to_do)}</p>` : null}
${pause_request_id ? html`<p>Request id: <a href="/ledger/calls?${new URLSearchParams({ request_id: pause_request_id }).toString()}">${foreign(pause_request_id)}</a></p>` : null}`
}

function factsOf(row: SummaryRow, progress: Progress, limit: Limit | null, timezone: string) {
  const { summary, batchesLeft, rowsPerMinute, etaMs } = progress
  const all = toBeSent(summary)
  const isUnderWay = isActive(row.status)
  return [
    ['Sent', `${number(summary.sent)} of ${counted(all, 'row')} (${share(summary.sent, all)})`],
    ...(isUnderWay
      ? ([
          ['Rate', rowsPerMinute === null ? null : `${number(Math.round(rowsPerMinute))} rows a minute`],
          ['Time left', etaMs === null ? null : `about ${duration(Math.round(etaMs / 1_000) * 1_000)}`],
        ] as const)
      : []),
    [
      'Batches',
      isEnded(row.status)
        ? number(summary.batches)
        : `${number(summary.batches - batchesLeft)} of ${number(summary.batches)}`,
    ],
    ['Calls', number(summary.requests)],
    ['Limit', limit ? limitInWords(limit) : 'not known here: this worker has no such account'],
    ['After an uncertain outcome', row.on_uncertain === 'hold' ? 'a person decides' : 'sent again'],
    ['Created', time(row.created_at, timezone)],
    ...(row.finished_at ? [['Ended', time(row.finished_at, timezone)] as const] : []),
    [isEnded(row.status) ? 'Took' : 'Active for', duration(summary.durationMs)],
  ].map(([name, value]) => [name, value ?? html`<span class="none">not known yet</span>`] as const)
}

/** `2 calls in 1 s, 20 calls in 1 min`. */
function limitInWords({ windows }: Limit): string {
  return windows
    .map(({ maxCalls, windowMs }) => `${counted(maxCalls, 'call')} in ${duration(windowMs)}`)
    .join(', ')
}

export const IMPORT_PAGES: readonly Page[] = [page]
