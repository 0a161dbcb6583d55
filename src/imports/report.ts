import type { Pool } from 'pg'
import { type ImportCounts, type ImportSummary, missingOf } from '#src/model/import.ts'
import { type BatchRow, loadReport, type ReasonRow } from '#src/store/imports/reports.ts'
import { ImportNotFound } from './errors.ts'
import { type Pause, pauseOf, summaryOf } from './progress.ts'

export type Report = {
  /** Counted from the rows, not from sums kept along the way. */
  readonly summary: ImportSummary
  readonly file: string
  readonly method: string
  readonly createdAt: Date
  readonly finishedAt: Date | null
  readonly purgedAt: Date | null
  readonly pause: Pause | null
  readonly batches: readonly BatchRow[]
  readonly reasons: readonly ReasonRow[]
  /** What does not add up, one sentence each; none is as it must be. */
  readonly differences: readonly string[]
}

/** Everything about an import, recounted. Throws `ImportNotFound`. */
export async function reportImport(pool: Pool, id: bigint): Promise<Report> {
  const report = await loadReport(pool, id)
  if (!report) throw new ImportNotFound(id)
  const { row, counted, batches, reasons } = report
  const kept = summaryOf(row)
  const { read } = kept
  return {
    summary: { ...kept, ...counted, read },
    file: row.file,
    method: row.method,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    purgedAt: row.purged_at,
    pause: row.status === 'paused' ? pauseOf(row) : null,
    batches,
    reasons,
    differences: differences(kept, { ...counted, read }),
  }
}

const COUNTS = [
  'sent',
  'rejected',
  'duplicate',
  'suppressed',
  'alreadyImported',
  'uncertain',
  'pending',
] as const

function differences(kept: ImportCounts, counted: ImportCounts): string[] {
  const missing = missingOf(counted)
  const sum =
    missing === 0 ? [] : [`${counted.read} rows were read, and ${counted.read - missing} are accounted for`]
  return [
    ...sum,
    ...COUNTS.filter(count => kept[count] !== counted[count]).map(
      count => `${count}: the rows say ${counted[count]}, the sums say ${kept[count]}`,
    ),
  ]
}
