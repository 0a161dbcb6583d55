import { partOf } from '#src/db/list.ts'
import type { BatchChoice, BatchRow } from '#src/imports/reporting/batches.ts'
import type { SummaryRow } from '#src/imports/reporting/summary.ts'
import type { BatchState } from '#src/imports/states.ts'
import { counted, number } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import { href } from '../page.ts'
import { requestId } from '../parts/calls.ts'
import { filters } from '../parts/filters.ts'
import { pager, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { badge, foreign, type Tone, time } from '../parts/values.ts'

/** Fewer than in other lists, because much stands above them and a phone shows each as a card. */
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
  const { rows, next } = partOf(batches, BATCH_ROWS, ({ fromLine }) => [fromLine])
  const choices = { unsent: 'not sent', uncertain: 'uncertain' }
  return html`<section class="batches"><h2 id="batches">Batches</h2>
${filters(path, query, [{ name: 'batches', label: 'Which', kind: 'choice', choices, any: 'all' }])}
${table('Batches, last lines first', columns(timezone), rows, choice === 'all' ? html`No batches yet. They are made as rows are sent.` : html`No batch is ${choices[choice]}.`)}
${pager(path, query, next && writeCursor(next))}</section>`
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
      html`<span class="whole"><a class="danger" href="/imports/${row.id}/batches/${id}/sent">mark as sent</a> or <a href="/imports/${row.id}/batches/${id}/resend">send again</a></span>`,
  }
  return html`<section class="batches"><h2 id="uncertain">Uncertain batches</h2>
<p>The call for each of these batches got no definite answer, so the platform may have the rows. Check there whether the people of these lines are subscribed, then decide.${row.onUncertain === 'resend' ? ' Without a decision, Ferry sends them again.' : null}</p>
${table(`Uncertain: ${counted(row.uncertain, 'row')}`, [...columns(timezone), decide], batches, html`None.`)}
${batches.length === BATCH_ROWS ? html`<p><a href="${href(`/imports/${row.id}`, { batches: 'uncertain' })}">All uncertain batches</a></p>` : null}</section>`
}

function columns(timezone: string): Column<BatchRow>[] {
  return [
    { head: 'Batch id', isNumber: true, cell: ({ id }) => id },
    { head: 'Lines', isNumber: true, cell: ({ fromLine, toLine }) => `${fromLine}–${toLine}` },
    { head: 'Rows', isNumber: true, cell: ({ rows }) => number(rows) },
    { head: 'State', cell: row => stateOf(row) },
    { head: 'Calls', isNumber: true, cell: row => callsOf(row) },
    { head: 'Sent at', cell: row => sentAt(row, timezone) },
    { head: 'Answer', cell: row => answerOf(row) },
    { head: 'Request ids', cell: ({ requestIds }) => idsOf(requestIds) },
  ]
}

function stateOf({ id, state, uncertain }: BatchRow): Html {
  const of = `Batch ${id}`
  return uncertain && state === 'ready' ? badge('warn', 'to be resent', of) : rowsBadge(state, of)
}

/** For a batch that is not sent, when its last call began: that is how the call is found on the platform. */
function sentAt({ sentAt, calledAt, calls }: BatchRow, timezone: string): Html {
  if (sentAt !== null || calledAt === null) return time(sentAt, timezone)
  return html`<span>${calls > 1 ? 'last call' : 'call'} began at ${time(calledAt, timezone)}</span>`
}

function callsOf({ calls, resends }: BatchRow): string {
  return resends === 0 ? number(calls) : `${number(calls)}, resent ${number(resends)}`
}

const TONES: Readonly<Partial<Record<string, Tone>>> = {
  sent: 'good',
  uncertain: 'warn',
  suspect: 'warn',
  rejected: 'bad',
} satisfies Partial<Record<BatchState, Tone>>

/** The state of a batch, or of a row. */
export function rowsBadge(state: string, announce?: string): Html {
  return badge(TONES[state] ?? 'quiet', state, announce)
}

/** Without the platform's words: they may name somebody. */
function answerOf({ httpStatus, errorCode }: BatchRow): Html {
  const words = [httpStatus === null ? '' : `HTTP ${httpStatus}`, errorCode ?? '']
  return foreign(words.filter(Boolean).join(', ') || null)
}

const MAX_SHOWN_IDS = 5

/** The latest ones: a batch that is resent for hours has many. */
function idsOf(ids: readonly string[]): Html {
  if (ids.length === 0) return foreign(null)
  const links = ids.slice(-MAX_SHOWN_IDS).map(id => html`${requestId(id)} `)
  const more = ids.length - MAX_SHOWN_IDS
  return html`<span class="mono">${more > 0 ? `${more} earlier, ` : null}${links}</span>`
}
