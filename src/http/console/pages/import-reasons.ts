import { MAX_COUNTED_REASONS, type ReasonRow } from '#src/imports/reporting/reasons.ts'
import type { SummaryRow } from '#src/imports/reporting/summary.ts'
import { number } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import { table } from '../parts/table.ts'
import { foreign } from '../parts/values.ts'

/** Why rows are not sent, in counts: nobody is named. */
export function reasonSection(row: SummaryRow, reasons: readonly ReasonRow[]): Html | null {
  if (reasons.length === 0) return null
  const isPart = row.rejected > MAX_COUNTED_REASONS || leftOut(row) > MAX_COUNTED_REASONS
  return html`<section><h2>Rows not sent, and why</h2>
${isPart ? html`<p>Counted in the first ${number(MAX_COUNTED_REASONS)} rejected rows, and in as many that were left out.</p>` : null}
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
${row.rejected > 0 && row.purged_at === null ? html`<p><code>ferry imports rejects ${row.id} --out rejects.csv</code> writes the rejected rows to a file. Correct it, and import it.</p>` : null}</section>`
}

function leftOut({ duplicate, suppressed, already_imported }: SummaryRow): number {
  return duplicate + suppressed + already_imported
}
