import { listCallLog } from '#src/db/list-calls.ts'
import {
  type DriftField,
  loadReadableRun,
  type NewValue,
  type ReadableDetails,
} from '#src/inventory/runs/list-runs.ts'
import {
  NEW_FIELDS,
  NEW_VALUES,
  NO_LONGER_STORED,
  nextOfRun,
  noCallOf,
  QUARANTINED_ROWS,
} from '#src/inventory/runs/next-steps.ts'
import { counted, number } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import { href, idOf, type Page } from '../page.ts'
import { callColumns, requestId } from '../parts/calls.ts'
import { runBadge } from '../parts/runs.ts'
import { type Column, facts, table } from '../parts/table.ts'
import { ledgerTabs } from '../parts/tabs.ts'
import { foreign, lasted, sentence, time } from '../parts/values.ts'

const REFRESH_EVERY_MS = 10_000

/** The most calls and quarantined rows shown with the run; a listing of MCP servers may have a thousand calls. */
const SHOWN = 20

/** One run: its counts, what it says, its calls, and what it could not take. */
export const run: Page = {
  path: '/ledger/runs/:id',
  section: 'ledger',
  access: 'read',
  async render({ params, reader, target: { accounts, timezone } }) {
    const id = idOf(params.id)
    const details = id === null ? null : await loadReadableRun(reader, id)
    if (id === null || !details) return null
    const { calls, next } = await listCallLog(reader, SHOWN, { run: id })
    const { status } = details.run
    const body = html`${ledgerTabs('/ledger')}
${held(details) ?? whatIsNext(details, accounts)}
${summary(details, timezone)}
${quarantine(details)}
${details.drift.length === 0 ? null : table(NEW_FIELDS, DRIFT_COLUMNS, details.drift, html``)}
${details.newValues.length === 0 ? null : table(NEW_VALUES, VALUE_COLUMNS, details.newValues, html``)}
<h2>Calls</h2>
${table('Last calls of this run, newest first', callColumns(timezone), calls, html`${noCallOf(details.run.requests)}`)}
${next ? html`<p><a href="${href('/ledger/calls', { run: `${id}` })}">All calls of this run</a></p>` : null}`
    return {
      title: `Run ${id}`,
      body,
      ...(status === 'running' && { refreshEveryMs: REFRESH_EVERY_MS }),
    }
  },
}

function summary({ run }: ReadableDetails, timezone: string): Html {
  const { slot, errorCode, message } = run
  return html`${message === null ? null : html`<p class="${run.status === 'failed' ? 'problem' : 'notice'}">${sentence(message)}</p>`}
${facts([
  ['Account', foreign(run.account)],
  ['Inventory', run.resource],
  ['Status', runBadge(run.status, `run ${run.run}`)],
  ['Trigger', run.trigger],
  ...(slot === null ? [] : [['Due at', time(slot, timezone)] as const]),
  ['Started', time(run.startedAt, timezone)],
  ['Finished', time(run.finishedAt, timezone, 'not yet')],
  ['Took', lasted(run.startedAt, run.finishedAt)],
  ...(errorCode === null ? [] : [['Error', foreign(errorCode)] as const]),
  ...(run.requestId === null ? [] : [['Request id', requestId(run.requestId)] as const]),
])}
<h2>Rows</h2>
${facts([
  ['Seen', number(run.seen)],
  ['Added', number(run.added)],
  ['Changed', number(run.changed)],
  ['Removed', number(run.removed)],
  ['Unchanged', number(run.unchanged)],
  ['Quarantined', number(run.quarantined)],
  ...(run.resource === 'alert-rules'
    ? ([
        ['Began to fire', number(run.fired)],
        ['Cleared', number(run.recovered)],
      ] as const)
    : []),
  ['Calls', number(run.requests)],
  ['Pages', number(run.pages)],
])}`
}

function held({ run, heldIds }: ReadableDetails): Html | null {
  if (heldIds.length === 0) return null
  const rows = counted(heldIds.length, 'row')
  return html`<p class="notice warn">This run held the removal of ${rows} until somebody decides. <a href="/ledger/holds/${run.run}">Review the hold and decide</a>.</p>`
}

/** What a person may do about a run that holds nothing. */
function whatIsNext({ run, standing }: ReadableDetails, accounts: readonly string[]): Html | null {
  const words = nextOfRun(run, standing, accounts.includes(run.account))
  return words === '' ? null : html`<p class="notice">${sentence(words)}</p>`
}

function quarantine({ run, quarantined }: ReadableDetails): Html | null {
  if (run.quarantined === 0) return null
  const shown = quarantined.slice(0, SHOWN)
  const rest = run.quarantined - shown.length
  return html`<h2>${QUARANTINED_ROWS}</h2>
<p>The platform sent these rows in a form that its contract does not allow. Ferry skipped them, and keeps their last good versions.</p>
${table(
  'The first quarantined rows, by position in the listing',
  [
    { head: 'Position', isNumber: true, cell: row => number(row.position) },
    { head: 'Id', cell: row => foreign(row.id, 'unreadable') },
    { head: 'Reason', cell: row => foreign(row.reason) },
  ],
  shown,
  html`${NO_LONGER_STORED}`,
)}
${rest > 0 && shown.length > 0 ? html`<p>And ${number(rest)} more. <code>ferry runs show ${run.run} --json</code> prints all that are stored.</p>` : null}`
}

const DRIFT_COLUMNS: readonly Column<DriftField>[] = [
  { head: 'Field', cell: ({ field }) => foreign(field) },
  { head: 'Type', cell: ({ type }) => foreign(type) },
]

const VALUE_COLUMNS: readonly Column<NewValue>[] = [
  { head: 'Field', cell: ({ field }) => foreign(field) },
  { head: 'Value', cell: ({ value }) => foreign(value) },
]
