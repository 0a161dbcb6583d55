import { IMPORT_LIST, type ListedImport } from '#src/imports/reporting/imports-list.ts'
import { listImportedAccounts, type SummaryRow } from '#src/imports/reporting/summary.ts'
import {
  isFirstRowsApproval,
  listWaitingRows,
  type WaitsFor,
  waitsFor,
} from '#src/imports/reporting/waits-for.ts'
import { number } from '#src/model/counted.ts'
import { type ImportStatus, isActive, toBeSent } from '#src/model/import.ts'
import { type Html, html } from '../html.ts'
import { asksForAll } from '../page.ts'
import { listPage } from '../parts/list-page.ts'
import { PAGE_ROWS } from '../parts/paging.ts'
import { table } from '../parts/table.ts'
import { badge, foreign, sentence, type Tone, time } from '../parts/values.ts'

/** On the first page, before the others, those that wait for a person. */
export const imports = listPage({
  path: '/imports',
  section: 'imports',
  title: 'Imports',
  list: () => IMPORT_LIST,
  async beside({ query, reader, target }, { rows }) {
    const { timezone } = target
    const isTop = asksForAll(query)
    const [waiting, imported] = await Promise.all([
      isTop ? listWaitingRows(reader, PAGE_ROWS) : [],
      listImportedAccounts(reader),
    ])
    const accounts = [...new Set([...imported, ...target.accounts])].toSorted()
    const isMoving = rows.some(({ status }) => isActive(status) || status === 'staging')
    return {
      above: waiting.length > 0 ? waitingTable(waiting, timezone) : null,
      accounts,
      fields: accounts.length > 1 ? ['status', 'account'] : ['status'],
      columns: [
        { head: 'Import', cell: row => html`<a href="/imports/${row.id}">${row.id}</a>` },
        'file',
        { head: 'Page', cell: row => row.pageId },
        'account',
        { head: 'Status', cell: statusBadge },
        {
          head: 'Sent',
          isNumber: true,
          cell: ({ summary }) => `${number(summary.sent)} of ${number(toBeSent(summary))}`,
        },
        { head: 'Other', cell: restInWords },
        'created',
      ],
      empty: isTop ? NONE_YET : null,
      ...(isMoving && { refreshEveryMs: 15_000 }),
    }
  },
})

const NONE_YET = html`No imports yet. <code>ferry import FILE --page ID --dry-run</code> shows what a file would send, without sending it.`

/** The rows that are not sent, by outcome. */
function restInWords(row: ListedImport): Html | string {
  const counts = [
    [row.pending, 'pending'],
    [row.uncertain, 'uncertain'],
    [row.rejected, 'rejected'],
    [row.duplicate + row.suppressed + row.alreadyImported, 'left out'],
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
        cell: ({ waits }) => html`<span>${whyItWaits(waits, timezone)}</span>`,
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

/** Why an import waits for a person, and until when. */
export function whyItWaits({ why, until }: WaitsFor, timezone: string): Html {
  return html`${sentence(why)}${until ? html` The import is deleted at ${time(until, timezone)} unless it is confirmed.` : null}`
}

function decideLink(row: SummaryRow, { decision }: WaitsFor): Html {
  const words = isFirstRowsApproval(row) ? 'Approve' : DECISIONS[decision]
  const path = decision === 'resolve' ? '#uncertain' : `/${decision}`
  return html`<a class="whole" href="/imports/${row.id}${path}">${words}</a>`
}

const DECISIONS = { confirm: 'Confirm', resume: 'Resume', resolve: 'Decide' } as const

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
export function statusBadge({ id, status, stagedAt }: Pick<SummaryRow, 'id' | 'status' | 'stagedAt'>): Html {
  const word = status === 'staging' && stagedAt !== null ? 'to confirm' : status
  return badge(TONES[status], word, `Import ${id}`)
}
