import type { Pool } from 'pg'
import { summaryOf } from '#src/imports/progress.ts'
import { listSummaryRows } from '#src/store/imports/progress.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { cellsOf, SUMMARY_HEAD } from '../import/result.ts'
import { printJson, printTable } from '../output.ts'

export async function listImports(pool: Pool, options: { limit: number; json?: true }): Promise<ExitCode> {
  const rows = await listSummaryRows(pool, options.limit)
  if (options.json) {
    for (const row of rows) {
      const { file, created_at, finished_at, purged_at } = row
      printJson({
        ...summaryOf(row),
        file,
        createdAt: created_at,
        finishedAt: finished_at,
        purgedAt: purged_at,
      })
    }
    return EXIT.done
  }
  const cells = rows.map(row => [...cellsOf(summaryOf(row)), row.created_at, row.file])
  const none = 'No import yet. `ferry import FILE --page ID --dry-run` shows what one would send.'
  printTable([...SUMMARY_HEAD, 'created', 'file'], cells, none)
  return EXIT.done
}
