import type { BatchChoice, BatchRow } from '#src/imports/reporting/batches.ts'
import type { SummaryRow } from '#src/imports/reporting/summary.ts'
import type { BatchState } from '#src/imports/states.ts'
import { counted, number } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import { href } from '../page.ts'
import { filters } from '../parts/filters.ts'
import { pager, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { badge, foreign, type Tone, time } from '../parts/values.ts'

/** Fewer than in other lists: there is much above them, and a phone shows each as a card. */
export const BATCH_ROWS = 20

type BatchList = {
  readonly path: string
  readonly query: URLSearchParams
  readonly choice: BatchChoice
  /** One more than a page if there are more. */
  readonly batches: readonly BatchRow[]
  readonly timezone: string
}

/** The batches of an import, those of the last lines first. */
export function batchSection({ path, query, choice, batches, timezone }: BatchList): Html {
  const rows = batches.slice(0, BATCH_ROWS)
  const last = rows.at(-1)
  const next = batches.length > BATCH_ROWS && last ? writeCursor([last.from_line]) : null
  const choices = { unsent: 'not sent', uncertain: 'uncertain' }
  return html`<section class="batches"><h2 id="batches">Batches</h2>
${filters(path, query, [{ name: 'batches', label: 'Which', kind: 'choice', choices, any: 'all' }])}
${table('Batches, the last lines first', columns(timezone), rows, choice === 'all' ? html`No batch was made yet. Batches are made as they are sent.` : html`No batch is ${choices[choice]}.`)}
${pager(path, query, next)}</section>`
}

/** Batches that a person may decide about, each with its decisions. */
export function uncertainSection(
  row: SummaryRow,
  batches: readonly BatchRow[],
  timezone: string,
): Html | null {
  if (batches.length === 0) return null
  const decide: Column<BatchRow> = {
    head: 'Decide',
    cell: ({ id }) =>
      html`<span class="whole"><a href="/imports/${row.id}/batches/${id}/sent">arrived</a> or <a href="/imports/${row.id}/batches/${id}/resend">send again</a></span>`,
  }
  return html`<section class="batches"><h2 id="uncertain">Uncertain batches</h2>
<p>A call was made for each of these, and no definite answer came: the platform may have the rows. Find out there whether people of these lines are subscribed, then say so.${row.on_uncertain === 'resend' ? ' If you decide nothing, Ferry sends them again.' : null}</p>
${table(`Uncertain: ${counted(row.uncertain, 'row')}`, [...columns(timezone), decide], batches, html`None.`)}
${batches.length === BATCH_ROWS ? html`<p><a href="${href(`/imports/${row.id}`, { batches: 'uncertain' })}">All uncertain batches</a></p>` : null}</section>`
}

function columns(timezone: string): Column<BatchRow>[] {
  return [
    { head: 'Batch', isNumber: true, cell: ({ id }) => id },
    { head: 'Lines', isNumber: true, cell: ({ from_line, to_line }) => `${from_line}–${to_line}` },
    { head: 'Rows', isNumber: true, cell: ({ rows }) => number(rows) },
    { head: 'State', cell: row => stateOf(row) },
    { head: 'Calls', isNumber: true, cell: row => callsOf(row) },
    { head: 'Sent at', cell: row => sentAt(row, timezone) },
    { head: 'Answer', cell: row => answerOf(row) },
    { head: 'Request ids', cell: ({ request_ids }) => requestIds(request_ids) },
  ]
}

function stateOf({ id, state, uncertain }: BatchRow): Html {
  const of = `Batch ${id}`
  return uncertain && state === 'ready' ? badge('warn', 'to be resent', of) : badge(TONES[state], state, of)
}

/** Of a batch that is not sent, by when its call is found at the platform. */
function sentAt({ sent_at, called_at, calls }: BatchRow, timezone: string): Html {
  if (sent_at !== null || called_at === null) return time(sent_at, timezone)
  return html`<span>${calls > 1 ? 'last call' : 'call'} began at ${time(called_at, timezone)}</span>`
}

function callsOf({ calls, resends }: BatchRow): string {
  return resends === 0 ? number(calls) : `${number(calls)}, resent ${number(resends)}`
}

const TONES: Readonly<Record<BatchState, Tone>> = {
  ready: 'quiet',
  'in flight': 'quiet',
  sent: 'good',
  uncertain: 'warn',
  doubted: 'warn',
  rejected: 'bad',
  'left out': 'quiet',
  split: 'quiet',
}

/** Without the platform's words: they may name somebody. */
function answerOf({ http_status, error_code }: BatchRow): Html {
  const words = [http_status === null ? '' : `HTTP ${http_status}`, error_code ?? '']
  return foreign(words.filter(Boolean).join(', ') || null)
}

const MAX_SHOWN_IDS = 5

/** The latest ones: a batch that is resent for hours has many. */
function requestIds(ids: readonly string[]): Html {
  if (ids.length === 0) return foreign(null)
  const links = ids
    .slice(-MAX_SHOWN_IDS)
    .map(id => html`<a href="${href('/ledger/calls', { request_id: id })}">${foreign(id)}</a> `)
  const more = ids.length - MAX_SHOWN_IDS
  return html`<span class="mono">${more > 0 ? `${more} earlier, ` : null}${links}</span>`
}
