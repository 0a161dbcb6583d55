import type { ListedCall } from '#src/db/list-calls.ts'
import { NO_ANSWER } from '#src/inventory/runs/next-steps.ts'
import { type Html, html } from '../html.ts'
import { href } from '../page.ts'
import type { Column } from './table.ts'
import { ago, foreign, lasted } from './values.ts'

/** A request id, with a link to the calls that had it. */
export function requestId(id: string | null): Html {
  if (id === null) return foreign(null)
  return html`<a class="mono" href="${href('/ledger/calls', { request_id: id })}">${foreign(id)}</a>`
}

/** What each call was and how it ended. */
export function callColumns(timezone: string): readonly Column<ListedCall>[] {
  return [
    { head: 'Started', cell: call => ago(call.started, timezone) },
    { head: 'Operation', cell: call => call.operation },
    { head: 'Took', isNumber: true, cell: ({ started, finished }) => lasted(started, finished, NO_ANSWER) },
    { head: 'HTTP', isNumber: true, cell: call => call.httpStatus ?? '–' },
    { head: 'Error', cell: call => foreign(call.errorCode) },
    { head: 'Request id', cell: call => requestId(call.requestId) },
  ]
}
