import { ACCOUNT, idAfter, list, partOf } from '#src/db/list.ts'
import { IMPORT_STATUSES, type ImportSummary } from '#src/model/import.ts'
import type { SummaryRow } from './summary.ts'

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
  columns: ({ summary, createdAt, file }: ListedImport) => ({
    ...summaryColumns(summary),
    created: createdAt,
    file,
  }),
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

/** The counts of an import as columns. */
export function summaryColumns(summary: ImportSummary) {
  return {
    import: summary.import,
    account: summary.account,
    page: summary.page,
    status: summary.status,
    read: summary.read,
    sent: summary.sent,
    rejected: summary.rejected,
    duplicate: summary.duplicate,
    suppressed: summary.suppressed,
    'already imported': summary.alreadyImported,
    uncertain: summary.uncertain,
    pending: summary.pending,
    batches: summary.batches,
    calls: summary.requests,
    took: { ms: summary.durationMs },
  }
}
