import { z } from 'zod'
import { listReadableRuns, type ReadableRun } from '#src/inventory/list-runs.ts'
import { noRuns } from '#src/inventory/run-words.ts'
import { number } from '#src/model/counted.ts'
import { RESOURCES } from '#src/model/resource.ts'
import { RUN_STATUSES } from '#src/model/run.ts'
import { type Html, html } from '../html.ts'
import type { Page } from '../page.ts'
import { accountFilter, choicesOf } from '../parts/account-filter.ts'
import { requestId } from '../parts/calls.ts'
import { filters, sinceAndUntil } from '../parts/filters.ts'
import { parsedSpan, zoneOf } from '../parts/instants.ts'
import { ledgerTabs } from '../parts/ledger-tabs.ts'
import { CursorId, PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { runBadge, runLink } from '../parts/runs.ts'
import { sentence } from '../parts/sentence.ts'
import { type Column, table } from '../parts/table.ts'
import { duration, foreign, time } from '../parts/values.ts'

const PATH = '/ledger'

/** Runs under way end within seconds or minutes. */
const REFRESH_EVERY_MS = 10_000

/** Every run, the newest first. */
export const runs: Page = {
  path: PATH,
  section: 'ledger',
  access: 'read',
  async render({ query, reader, target: { accounts, timezone } }) {
    const zone = zoneOf(query, timezone)
    const asked = parsedSpan(query, zone, Asked)
    const filter = {
      account: asked.account,
      resource: asked.inventory,
      status: asked.status,
      since: asked.since,
      until: asked.until,
    }
    const after = readCursor(query, z.tuple([CursorId]))
    const before = after ? BigInt(after[0]) : undefined
    const found = await listReadableRuns(reader, PAGE_ROWS + 1, { ...filter, before })
    const shown = found.slice(0, PAGE_ROWS)
    const last = found.length > PAGE_ROWS ? shown.at(-1) : undefined
    const body = html`${ledgerTabs(PATH)}
${filters(PATH, query, [
  accountFilter(accounts, query),
  { name: 'inventory', label: 'Inventory', kind: 'choice', choices: choicesOf(RESOURCES), any: 'both' },
  { name: 'status', label: 'Status', kind: 'choice', choices: choicesOf(RUN_STATUSES) },
  ...sinceAndUntil(zone),
])}
${table('Runs, the newest first', columns(timezone), shown, sentence(noRuns(filter)))}
${pager(PATH, query, last ? writeCursor([`${last.run}`]) : null)}`
    const isUnderWay = shown.some(({ status }) => status === 'running')
    return { title: 'Ledger: runs', body, ...(isUnderWay && { refreshEveryMs: REFRESH_EVERY_MS }) }
  },
}

const Asked = z.object({
  account: z.string().optional(),
  inventory: z.enum(RESOURCES).optional(),
  status: z.enum(RUN_STATUSES).optional(),
})

function columns(timezone: string): readonly Column<ReadableRun>[] {
  return [
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
        html`<span>${time(startedAt, timezone)}<br><small>${trigger}</small></span>`,
    },
    { head: 'Took', isNumber: true, cell: run => tookOf(run) },
    { head: 'Seen', isNumber: true, cell: ({ seen }) => number(seen) },
    { head: 'Added', isNumber: true, cell: ({ added }) => number(added) },
    { head: 'Changed', isNumber: true, cell: ({ changed }) => number(changed) },
    { head: 'Removed', isNumber: true, cell: ({ removed }) => number(removed) },
    { head: 'Notes', cell: notesOf },
  ]
}

export function tookOf({ startedAt, finishedAt }: Pick<ReadableRun, 'startedAt' | 'finishedAt'>): string {
  return finishedAt === null ? '–' : duration(finishedAt.getTime() - startedAt.getTime())
}

function notesOf({ quarantined, errorCode, requestId: id }: ReadableRun): Html {
  const notes = [
    ...(quarantined > 0 ? [html`<span>${number(quarantined)} quarantined</span>`] : []),
    ...(errorCode === null ? [] : [foreign(errorCode)]),
    ...(id === null ? [] : [requestId(id)]),
  ]
  if (notes.length === 0) return foreign(null)
  return html`<span>${notes.map((note, n) => html`${n > 0 ? html`<br>` : null}${note}`)}</span>`
}
