import type { ReadableRun } from '#src/inventory/runs/list-runs.ts'
import { RUN_LIST } from '#src/inventory/runs/runs-list.ts'
import { number } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import { requestId } from '../parts/calls.ts'
import { listPage } from '../parts/list-page.ts'
import { runBadge, runLink } from '../parts/runs.ts'
import { ledgerTabs } from '../parts/tabs.ts'
import { ago, foreign } from '../parts/values.ts'

const PATH = '/ledger'

/** Runs under way end within seconds or minutes. */
const REFRESH_EVERY_MS = 10_000

export const runs = listPage({
  path: PATH,
  section: 'ledger',
  title: 'Runs',
  list: () => RUN_LIST,
  beside: ({ target: { timezone } }, { rows }) => ({
    above: ledgerTabs(PATH),
    columns: [
      { head: 'Run', isNumber: true, cell: ({ run }) => runLink(run) },
      {
        head: 'Inventory',
        cell: ({ account, resource }) =>
          html`<span>${resource}<br><small>in ${foreign(account)}</small></span>`,
      },
      { head: 'Status', cell: ({ run, status }) => runBadge(status, `run ${run}`) },
      {
        head: 'Started',
        cell: ({ startedAt, trigger }) =>
          html`<span>${ago(startedAt, timezone)}<br><small>${trigger}</small></span>`,
      },
      'took',
      'seen',
      'added',
      'changed',
      'removed',
      { head: 'Notes', cell: notesOf },
    ],
    ...(rows.some(({ status }) => status === 'running') && { refreshEveryMs: REFRESH_EVERY_MS }),
  }),
})

function notesOf({ quarantined, errorCode, requestId: id }: ReadableRun): Html {
  const notes = [
    ...(quarantined > 0 ? [html`<span>${number(quarantined)} quarantined</span>`] : []),
    ...(errorCode === null ? [] : [foreign(errorCode)]),
    ...(id === null ? [] : [requestId(id)]),
  ]
  if (notes.length === 0) return foreign(null)
  return html`<span>${notes.map((note, n) => html`${n > 0 ? html`<br>` : null}${note}`)}</span>`
}
