import type { PagedSnapshot } from '#src/inventory/history/snapshot-page.ts'
import { SNAPSHOT_LIST } from '#src/inventory/history/snapshots-list.ts'
import { loadMissedNights, type MissedNight } from '#src/reports/nights.ts'
import { type Html, html } from '../html.ts'
import { asksForAll, href } from '../page.ts'
import { historyNote } from '../parts/history-note.ts'
import { listPage } from '../parts/list-page.ts'
import { runBadge, runLink } from '../parts/runs.ts'
import { ledgerTabs } from '../parts/tabs.ts'
import { inZone } from '../parts/values.ts'

const PATH = '/ledger/snapshots'

/** At most this many missed nights are named. */
const MAX_MISSED = 10

/** With what each snapshot is to be compared, and the nights that have none. */
export const snapshots = listPage({
  path: PATH,
  section: 'ledger',
  title: 'Snapshots',
  list: () => SNAPSHOT_LIST,
  async beside({ query, reader, target: { timezone } }, { next }) {
    const isTop = asksForAll(query)
    const missed = isTop ? await loadMissedNights(reader, MAX_MISSED + 1) : []
    return {
      above: html`${ledgerTabs(PATH)}
${missedNote(missed)}`,
      columns: [
        'snapshot',
        { head: 'Night of', cell: ({ slot }) => slot && inZone(slot, timezone).slice(0, 10) },
        'account',
        { head: 'Status', cell: ({ status }) => runBadge(status) },
        'taken',
        {
          head: 'Runs',
          cell: row =>
            html`<span>${runLink(row.alertRulesRun, 'alert rules')}, ${runLink(row.mcpServersRun, 'MCP servers')}</span>`,
        },
        { head: 'What changed', cell: changedSince },
      ],
      below: next ? null : await historyNote(reader, undefined, timezone),
      empty: isTop ? NONE_YET : html`No snapshot matches. <a href="${PATH}">Show all snapshots</a>.`,
    }
  },
})

const NONE_YET = html`There are no snapshots. A worker takes one each night; <code>ferry snapshots take</code> takes one now.`

function missedNote(missed: readonly MissedNight[]): Html | null {
  if (missed.length === 0) return null
  const named = missed.slice(0, MAX_MISSED)
  const more = missed.length > named.length ? ' and others' : ''
  return html`<p class="notice warn">Nights of the last 30 days without a snapshot: ${named.map(
    ({ account, night }, n) => html`${n > 0 ? ', ' : null}${night} (<bdi>${account}</bdi>)`,
  )}${more}.</p>`
}

function changedSince({ id, previous }: PagedSnapshot): Html {
  if (previous === null) return html`<span class="none">no earlier snapshot</span>`
  return html`<a href="${comparePath(previous, id)}">since snapshot ${previous}</a>`
}

/** The page that compares two snapshots, or two moments. */
function comparePath(from: string, to: string): string {
  return href('/changes/compare', { from, to })
}
