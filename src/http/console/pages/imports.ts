import { z } from 'zod'
import { listImportedAccounts } from '#src/imports/reporting/known-accounts.ts'
import {
  listSummaryRows,
  listWaitingRows,
  type SummaryRow,
  summaryOf,
} from '#src/imports/reporting/summary.ts'
import { type WaitsFor, waitsFor } from '#src/imports/reporting/waits-for.ts'
import { number } from '#src/model/counted.ts'
import { IMPORT_STATUSES, type ImportStatus, isActive, toBeSent } from '#src/model/import.ts'
import { type Html, html } from '../html.ts'
import { asksForAll, type Page, parsedQuery } from '../page.ts'
import { accountFilter, choicesOf } from '../parts/account-filter.ts'
import { type Filter, filters } from '../parts/filters.ts'
import { PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { badge, foreign, type Tone, time } from '../parts/values.ts'
import { isFirstRowsApproval } from './import-decisions.ts'

const PATH = '/imports'

const Query = z.object({
  account: z.string().max(200).optional(),
  status: z.enum(IMPORT_STATUSES).optional(),
})

const Cursor = z.tuple([z.string().regex(/^\d{1,18}$/)])

/** Every import, the newest first; on the first page, before them, those that wait for a person. */
const imports: Page = {
  path: PATH,
  section: 'imports',
  access: 'read',
  async render({ query, reader, target: { timezone } }) {
    const filter = parsedQuery(query, Query)
    const [after] = readCursor(query, Cursor) ?? []
    const before = after === undefined ? undefined : BigInt(after)
    const isTop = asksForAll(query)
    const [found, waiting, accounts] = await Promise.all([
      listSummaryRows(reader, PAGE_ROWS + 1, { ...filter, before }),
      isTop ? listWaitingRows(reader, PAGE_ROWS) : [],
      listImportedAccounts(reader),
    ])
    const rows = found.slice(0, PAGE_ROWS)
    const last = rows.at(-1)
    const isMoving = rows.some(({ status }) => isActive(status) || status === 'staging')
    return {
      title: 'Imports',
      ...(isMoving && { refreshEveryMs: 15_000 }),
      body: html`${waiting.length > 0 ? waitingTable(waiting, timezone) : null}
${filters(PATH, query, filtersFor(accounts, query))}
${table('All imports, the newest first', columns(timezone), rows, isTop ? NONE_YET : html`No import matches.`)}
${pager(PATH, query, found.length > PAGE_ROWS && last ? writeCursor([last.id]) : null)}`,
    }
  },
}

const NONE_YET = html`No file was imported yet. <code>ferry import FILE --page ID --dry-run</code> shows what one would send, and sends nothing.`

function filtersFor(accounts: readonly string[], query: URLSearchParams): Filter[] {
  const status: Filter = {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    choices: choicesOf(IMPORT_STATUSES),
  }
  return accounts.length > 1 ? [status, accountFilter(accounts, query)] : [status]
}

function columns(timezone: string): Column<SummaryRow>[] {
  return [
    { head: 'Import', cell: row => html`<a href="/imports/${row.id}">${row.id}</a>` },
    { head: 'File', cell: row => foreign(row.file) },
    { head: 'Page', cell: row => row.page_id },
    { head: 'Account', cell: row => foreign(row.account) },
    { head: 'Status', cell: row => statusBadge(row) },
    {
      head: 'Sent',
      isNumber: true,
      cell: row => `${number(row.sent)} of ${number(toBeSent(summaryOf(row)))}`,
    },
    { head: 'Other', cell: row => restInWords(row) },
    { head: 'Created', cell: row => time(row.created_at, timezone) },
  ]
}

/** What became of the rows that are not sent. */
function restInWords(row: SummaryRow): Html | string {
  const counts = [
    [row.pending, 'pending'],
    [row.uncertain, 'uncertain'],
    [row.rejected, 'rejected'],
    [row.duplicate + row.suppressed + row.already_imported, 'left out'],
  ] as const
  const words = counts.filter(([rows]) => rows !== 0).map(([rows, word]) => `${number(rows)} ${word}`)
  return words.length > 0 ? words.join(', ') : html`<span class="none">–</span>`
}

function waitingTable(rows: readonly SummaryRow[], timezone: string): Html {
  const waiting = rows.flatMap(row => {
    const waits = waitsFor(row)
    return waits ? [{ row, waits }] : []
  })
  return table<{ row: SummaryRow; waits: WaitsFor }>(
    'Waiting for a decision',
    [
      { head: 'Import', cell: ({ row }) => html`<a href="/imports/${row.id}">${row.id}</a>` },
      { head: 'File', cell: ({ row }) => foreign(row.file) },
      { head: 'Status', cell: ({ row }) => statusBadge(row) },
      {
        head: 'Why',
        cell: ({ waits: { why, until } }) =>
          html`<span>${foreign(why)}${until ? html` It is removed at ${time(until, timezone)}.` : null}</span>`,
      },
      {
        head: 'Decide',
        cell: ({ row, waits }) => decideLink(row, waits),
      },
    ],
    waiting,
    html`Nothing waits.`,
  )
}

function decideLink(row: SummaryRow, { decision }: WaitsFor): Html {
  const words = isFirstRowsApproval(row) ? 'Approve' : DECISIONS[decision]
  const path = decision === 'resolve' ? '#uncertain' : `/${decision}`
  return html`<a class="whole" href="/imports/${row.id}${path}">${words}</a>`
}

const DECISIONS = { confirm: 'Confirm', resume: 'Resume', resolve: 'Look at it' } as const

const TONES: Readonly<Record<ImportStatus, Tone>> = {
  staging: 'warn',
  queued: 'quiet',
  running: 'good',
  paused: 'warn',
  undecided: 'warn',
  completed: 'good',
  cancelled: 'quiet',
}

/** The status of an import; screen readers hear when it changes. */
export function statusBadge({ id, status }: Pick<SummaryRow, 'id' | 'status'>): Html {
  return badge(TONES[status], status, `Import ${id}`)
}

export const IMPORTS_PAGES: readonly Page[] = [imports]
