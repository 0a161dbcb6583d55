import { maskRecipient } from '#src/imports/mask.ts'
import { findRecipient, nobodyFound, type RecipientRow } from '#src/imports/reporting/recipients.ts'
import { loadSummaryRow } from '#src/imports/reporting/summary.ts'
import { type Html, html } from '../html.ts'
import { BadQuery, href, idOf, type Lookup } from '../page.ts'
import { table } from '../parts/table.ts'
import { badge, foreign, time } from '../parts/values.ts'

/** An address has at most 254 characters, a URL of a webhook more. */
const MAX_CHARACTERS = 2_000

/** What became of one recipient. The address is in the body of the form alone, and on no page, not even the answer. */
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
      title: `One recipient of import ${id}`,
      fields: html`<p>The whole recipient, as it is in the file. Case does not matter. It will be in no URL and in no log.</p>
<label>Recipient <input type="text" name="recipient" required maxlength="${MAX_CHARACTERS}" autocomplete="off" autocapitalize="off" spellcheck="false"></label>`,
      button: 'Look up',
      found:
        rows && recipient !== null
          ? outcome(maskRecipient(recipient), rows, {
              none: nobodyFound(id, row.purged_at !== null),
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
    throw new BadQuery('recipient: is too long, or no text.')
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
      { head: 'State', cell: ({ state }) => badge(TONES.get(state) ?? 'quiet', state) },
      {
        head: 'Why',
        cell: ({ reason, message }) => foreign([reason, message].filter(Boolean).join(': ') || null),
      },
      { head: 'Batch', cell: ({ batch }) => foreign(batch) },
      { head: 'Resent', isNumber: true, cell: ({ resends }) => resends ?? '–' },
      { head: 'Sent at', cell: ({ sent_at }) => time(sent_at, timezone) },
      { head: 'Request id', cell: row => requestId(row) },
    ],
    rows,
    html`${none.charAt(0).toUpperCase() + none.slice(1)}.`,
  )
}

const TONES = new Map([
  ['sent', 'good'],
  ['uncertain', 'warn'],
  ['doubted', 'warn'],
  ['rejected', 'bad'],
] as const) as ReadonlyMap<string, 'good' | 'warn' | 'bad'>

function requestId({ request_id }: RecipientRow): Html {
  if (request_id === null) return foreign(null)
  return html`<a class="mono" href="${href('/ledger/calls', { request_id })}">${foreign(request_id)}</a>`
}
