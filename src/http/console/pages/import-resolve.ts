import {
  type DecidedBatch,
  doubtAbout,
  listDecidable,
  type Resolution,
  resolveUncertain,
} from '#src/imports/control/resolve.ts'
import type { SummaryRow } from '#src/imports/reporting/summary.ts'
import { counted, isOrAre, itOrThem } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import { idOf } from '../page.ts'
import { type About, destination, type ImportDecision, notPossible } from './import-action.ts'

/** What a person found out about uncertain batches, all or one. The form carries which they were. */
function resolution(path: string, as: Resolution): ImportDecision {
  return {
    path,
    done: 'resolved, because no row of it is uncertain',
    action: 'resolve',
    async explain(about) {
      const batches = await listDecidable(about.request.reader, about.id, batchOf(about))
      if (batches.length === 0) throw notPossible(about.row, nothingToDecide(about))
      const rows = sum(batches.map(batch => batch.rows))
      const which = `${batchesInWords(batches)} with ${counted(rows, 'row')}`
      return {
        title: as === 'sent' ? `Mark ${which} as sent?` : `Send ${which} again?`,
        body: html`<p>${destination(about.row)} ${whatHappened(about.id, batches)}</p>
${as === 'sent' ? asSent(batches, rows) : asResend(about.row, rows)}
${whatFollows(about.row, batches)}<input type="hidden" name="doubt" value="${doubtAbout(batches)}">`,
        button: as === 'sent' ? `Mark ${counted(rows, 'row')} as sent` : `Send ${counted(rows, 'row')} again`,
        isDangerous: as === 'sent',
      }
    },
    carryOut: sent =>
      resolveUncertain(sent.request.target.pool, sent.id, as, sent.by, {
        batchId: batchOf(sent),
        doubt: sent.form.get('doubt') ?? '',
        seen: sent.seen,
      }),
  }
}

/** Null: all of them. An address of a batch that is none gives a batch that no import has. */
function batchOf({ request: { params } }: About): bigint | null {
  return params.batch === undefined ? null : (idOf(params.batch) ?? 0n)
}

function nothingToDecide({ id, request: { params } }: About): string {
  return params.batch === undefined
    ? `Import ${id} has no batch to decide about now: calls may still be in flight.`
    : `Batch ${params.batch} of import ${id} is not uncertain, so there is nothing to decide.`
}

function batchesInWords(batches: readonly DecidedBatch[]): string {
  const [first] = batches
  return first && batches.length === 1 ? `batch ${first.id}` : counted(batches.length, 'batch', 'batches')
}

function whatHappened(id: bigint, batches: readonly DecidedBatch[]): string {
  const [first] = batches
  if (!first || batches.length > 1) {
    return `Import ${id} got no definite answer to the calls for these batches.`
  }
  const { fromLine, toLine } = first
  const lines = fromLine === toLine ? `line ${fromLine}` : `lines ${fromLine}–${toLine}`
  return `Import ${id} got no definite answer to the call for batch ${first.id}, which has ${lines} of the file.`
}

function asSent(batches: readonly DecidedBatch[], rows: number): Html {
  const setAside = sum(batches.map(batch => batch.setAside))
  const sent = rows - setAside
  return html`<p>This records that the platform has ${itOrThem(rows)}. ${counted(sent, 'row counts', 'rows count')} as sent, and ${isOrAre(sent)} not sent again.${setAside > 0 ? ` ${counted(setAside, 'row')} that the platform named as wrong will count as rejected, or be sent alone once more where the answer may have meant the page.` : null}</p>
<p><strong>This cannot be undone.</strong> If it is wrong, these people are not subscribed, and importing the same file leaves them out.</p>`
}

function asResend({ status }: SummaryRow, rows: number): Html {
  const when = {
    cancelled: 'This import is cancelled: importing the file again sends them.',
    paused: 'This import is paused: they are sent once it is resumed.',
  }
  return html`<p>Do this if the platform does not have ${itOrThem(rows)}, or if sending ${itOrThem(rows)} twice does no harm. ${counted(rows, 'row')} will be sent again. ${status === 'cancelled' || status === 'paused' ? when[status] : null}</p>
<p>People who are already subscribed get the same settings again. This cannot be undone.</p>`
}

function whatFollows(
  { status, uncertain, pending }: SummaryRow,
  batches: readonly DecidedBatch[],
): Html | null {
  if (status !== 'undecided') return null
  const rest = uncertain - sum(batches.map(batch => batch.rows))
  if (rest > 0) return html`<p>${counted(rest, 'row')} of other batches stay uncertain.</p>`
  return pending > 0 ? html`<p>Then the import continues with ${counted(pending, 'pending row')}.</p>` : null
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

export const RESOLVE_DECISIONS: readonly ImportDecision[] = [
  resolution('/imports/:id/resolve/sent', 'sent'),
  resolution('/imports/:id/resolve/resend', 'resend'),
  resolution('/imports/:id/batches/:batch/sent', 'sent'),
  resolution('/imports/:id/batches/:batch/resend', 'resend'),
]
