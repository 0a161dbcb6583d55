import { maskRecipient } from '#src/imports/recipient-text.ts'
import { findRecipient, nobodyFound, type RecipientRow } from '#src/imports/reporting/recipients.ts'
import { loadSummaryRow } from '#src/imports/reporting/summary.ts'
import { type Html, html } from '../html.ts'
import { BadQuery, idOf, type Lookup } from '../page.ts'
import { requestId } from '../parts/calls.ts'
import { table } from '../parts/table.ts'
import { capital, foreign, time } from '../parts/values.ts'
import { rowsBadge } from './import-batches.ts'

/** An address has at most 254 characters, a URL of a webhook more. */
const MAX_CHARACTERS = 2_000

/** The outcome of one recipient. The address is only in the body of the form, and on no page, not even the answer. */
export const recipientLookup: Lookup = {
  path: '/imports/:id/recipient',
  section: 'imports',
  async look({ params, target }, form) {
    const id = idOf(params.id)
    const row = id === null ? null : await loadSummaryRow(target.personal, id)
    if (id === null || !row) return null
    const recipient = form && recipientIn(form)
    const rows = recipient === null ? null : await findRecipient(target.personal, row, recipient)
    return {
      title: `Recipient of import ${id}`,
      fields: html`<p>Enter the whole recipient as it is in the file. Case does not matter. It appears in no URL and no log.</p>
<label>Recipient <input type="text" name="recipient" required maxlength="${MAX_CHARACTERS}" autocomplete="off" autocapitalize="off" spellcheck="false"></label>`,
      button: 'Look up',
      found:
        rows && recipient !== null
          ? outcome(maskRecipient(recipient), rows, {
              none: nobodyFound(id, row.purgedAt !== null),
              timezone: target.timezone,
            })
          : null,
      back: `/imports/${id}`,
    }
  },
}

/** Throws `BadQuery`, which does not repeat it. */
function recipientIn(form: URLSearchParams): string {
  const recipient = form.get('recipient')?.trim() ?? ''
  if (recipient === '') throw new BadQuery('recipient: is empty. Write the whole recipient.')
  if (recipient.length > MAX_CHARACTERS || recipient.includes('\0')) {
    throw new BadQuery('recipient: is too long, or not text.')
  }
  return recipient
}

function outcome(
  masked: string,
  rows: readonly RecipientRow[],
  { none, timezone }: { readonly none: string; readonly timezone: string },
): Html {
  return table<RecipientRow>(
    `Rows of ${masked}`,
    [
      { head: 'Line', cell: ({ line }) => line },
      { head: 'State', cell: ({ state }) => rowsBadge(state) },
      {
        head: 'Why',
        cell: ({ reason, message }) => foreign([reason, message].filter(Boolean).join(': ') || null),
      },
      { head: 'Batch id', cell: ({ batch }) => foreign(batch) },
      { head: 'Resent', isNumber: true, cell: ({ resends }) => resends ?? '–' },
      { head: 'Sent at', cell: ({ sentAt }) => time(sentAt, timezone) },
      { head: 'Request id', cell: row => requestId(row.requestId) },
    ],
    rows,
    html`${capital(none)}.`,
  )
}
