import { z } from 'zod'
import { loadSnapshotPage, type PagedSnapshot } from '#src/inventory/snapshot-page.ts'
import { SNAPSHOT_STATUSES } from '#src/inventory/states.ts'
import { loadMissedNights, type MissedNight } from '#src/reports/missed-nights.ts'
import { type Html, html } from '../html.ts'
import { asksForAll, type Page, parsedQuery } from '../page.ts'
import { accountFilter, choicesOf } from '../parts/account-filter.ts'
import { filters } from '../parts/filters.ts'
import { ledgerTabs } from '../parts/ledger-tabs.ts'
import { PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { runLink } from '../parts/runs.ts'
import { comparePath, snapshotBadge } from '../parts/snapshots.ts'
import { type Column, table } from '../parts/table.ts'
import { foreign, time } from '../parts/values.ts'

const PATH = '/ledger/snapshots'

const Query = z.object({
  account: z.string().max(200).optional(),
  status: z.enum(SNAPSHOT_STATUSES).optional(),
})

const Cursor = z.tuple([z.string().regex(/^\d{1,18}$/)])

/** So many missed nights are named. */
const MAX_MISSED = 10

/** Every snapshot with its two runs, and what to compare it with. */
export const snapshots: Page = {
  path: PATH,
  section: 'ledger',
  access: 'read',
  async render({ query, reader, target: { timezone, accounts } }) {
    const filter = parsedQuery(query, Query)
    const [before] = readCursor(query, Cursor) ?? []
    const [found, missed] = await Promise.all([
      loadSnapshotPage(reader, filter, before === undefined ? null : BigInt(before), PAGE_ROWS + 1),
      asksForAll(query) ? loadMissedNights(reader, MAX_MISSED + 1) : [],
    ])
    const rows = found.slice(0, PAGE_ROWS)
    const last = rows.at(-1)
    const fields = [
      accountFilter(accounts, query),
      { name: 'status', label: 'Status', kind: 'choice', choices: choicesOf(SNAPSHOT_STATUSES) },
    ] as const
    return {
      title: 'Snapshots',
      body: html`${ledgerTabs(PATH)}
${missedNote(missed)}
${filters(PATH, query, fields)}
${table('Nights, and snapshots taken by hand', columnsIn(timezone), rows, asksForAll(query) ? NONE_YET : html`No snapshot matches. <a href="${PATH}">Show all snapshots</a>.`)}
${pager(PATH, query, found.length > PAGE_ROWS && last ? writeCursor([last.id]) : null)}`,
    }
  },
}

const NONE_YET = html`No snapshot was taken yet. A worker takes one each night; <code>ferry snapshots take</code> takes one now.`

function missedNote(missed: readonly MissedNight[]): Html | null {
  if (missed.length === 0) return null
  const named = missed.slice(0, MAX_MISSED)
  const more = missed.length > named.length ? ' and others' : ''
  return html`<p class="notice warn">Nights of the last 30 days without a snapshot: ${named.map(
    ({ account, night }, n) => html`${n > 0 ? ', ' : null}${night} (<bdi>${account}</bdi>)`,
  )}${more}. <a href="/ledger/schedules">The schedules</a> say why a night fails.</p>`
}

function columnsIn(timezone: string): Column<PagedSnapshot>[] {
  return [
    { head: 'Snapshot', isNumber: true, cell: ({ id }) => id },
    { head: 'Night of', cell: ({ slot }) => time(slot, timezone, 'by hand') },
    { head: 'Account', cell: ({ account }) => foreign(account) },
    { head: 'Status', cell: ({ status }) => snapshotBadge(status) },
    { head: 'Taken', cell: ({ takenAt }) => time(takenAt, timezone) },
    {
      head: 'Runs',
      cell: row =>
        html`<span>${runLink(row.alertRulesRun, 'alert rules')}, ${runLink(row.mcpServersRun, 'MCP servers')}</span>`,
    },
    { head: 'What changed', cell: changedSince },
  ]
}

function changedSince({ id, previous }: PagedSnapshot): Html {
  if (previous === null) return html`<span class="none">the first one</span>`
  return html`<a href="${comparePath(previous, id)}">since snapshot ${previous}</a>`
}
