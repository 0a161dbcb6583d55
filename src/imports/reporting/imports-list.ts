import { ACCOUNT, type Columns, idAfter, list, partOf } from '#src/db/list.ts'
import { IMPORT_STATUSES, type ImportSummary } from '#src/model/import.ts'
import type { SummaryRow } from './summary.ts'

/** The counts of an import. */
export const SUMMARY_COLUMNS = {
  import: ({ summary }) => summary.import,
  account: ({ summary }) => summary.account,
  page: ({ summary }) => summary.page,
  status: ({ summary }) => summary.status,
  read: ({ summary }) => summary.read,
  sent: ({ summary }) => summary.sent,
  rejected: ({ summary }) => summary.rejected,
  duplicate: ({ summary }) => summary.duplicate,
  suppressed: ({ summary }) => summary.suppressed,
  'already imported': ({ summary }) => summary.alreadyImported,
  uncertain: ({ summary }) => summary.uncertain,
  pending: ({ summary }) => summary.pending,
  batches: ({ summary }) => summary.batches,
  calls: ({ summary }) => summary.requests,
  took: ({ summary }) => ({ ms: summary.durationMs }),
} as const satisfies Columns<Pick<ListedImport, 'summary'>, string>

/** Every import, the newest first. */
export const IMPORT_LIST = list({
  caption: 'All imports, the newest first',
  filters: {
    account: { ...ACCOUNT, max: 200 },
    status: {
      kind: 'choice',
      values: IMPORT_STATUSES,
      label: 'Status',
      option: ['--status <status>', 'only imports with this status'],
    },
    since: {
      kind: 'instant',
      option: ['--since <when>', 'only imports made since: 24h, 7d or 2026-11-01'],
    },
  },
  order: ['id'],
  async load(pool, { filter, after, limit }) {
    const { listSummaryRows, summaryOf } = await import('./summary.ts')
    const rows = await listSummaryRows(pool, limit + 1, { ...filter, before: idAfter(after) })
    const listed = rows.map(row => ({ ...row, summary: summaryOf(row) }))
    return partOf(listed, limit, ({ id }) => [id])
  },
  columns: { ...SUMMARY_COLUMNS, created: row => row.createdAt, file: row => row.file },
  none: 'No import yet. `ferry import FILE --page ID --dry-run` shows what one would send.',
  noneMatches: 'No import matches.',
  json: ({ summary, file, createdAt, finishedAt, purgedAt }) => ({
    ...summary,
    file,
    createdAt,
    finishedAt,
    purgedAt,
  }),
})

export type ListedImport = SummaryRow & { readonly summary: ImportSummary }
