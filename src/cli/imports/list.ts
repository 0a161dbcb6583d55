import type { Pool } from 'pg'
import {
  type ImportFilter,
  listSummaryRows,
  type SummaryRow,
  summaryOf,
} from '#src/imports/reporting/summary.ts'
import { nextInWords, waitsFor } from '#src/imports/reporting/waits-for.ts'
import { counted } from '#src/model/counted.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { cellsOf, SUMMARY_HEAD } from '../import/result.ts'
import { fits, harmless, printAside, printJson, printTable } from '../output.ts'

export async function listImports(
  pool: Pool,
  options: ImportFilter & { limit: number; json?: true },
): Promise<ExitCode> {
  const rows = await listSummaryRows(pool, options.limit, options)
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
  const narrowed = [options.account, options.status, options.since].some(filter => filter !== undefined)
  const none = narrowed
    ? 'No import matches.'
    : 'No import yet. `ferry import FILE --page ID --dry-run` shows what one would send.'
  const head = [...SUMMARY_HEAD, 'created', 'file']
  if (fits(head, cells)) {
    printTable(head, cells, none)
    noteWaiting(rows)
    return EXIT.done
  }
  const kept = head.map((name, column) => (NARROW.includes(name) ? column : -1)).filter(column => column >= 0)
  const some = cells.map(row => kept.map(column => row[column] ?? null))
  printTable(NARROW, some, none)
  printAside('ferry: a wider terminal or --json shows more of each import')
  noteWaiting(rows)
  return EXIT.done
}

/** So many imports are named that wait for a person. */
const MAX_NAMED = 5

/** Says what a person may do about those that wait for one. */
function noteWaiting(rows: readonly SummaryRow[]): void {
  const waiting = rows.filter(row => waitsFor(row) !== null)
  for (const row of waiting.slice(0, MAX_NAMED)) {
    printAside(harmless(`ferry: import ${row.id} is ${row.status}. ${nextInWords(row)}`))
  }
  const more = waiting.length - MAX_NAMED
  if (more > 0)
    printAside(
      `ferry: ${counted(more, 'more import')} of these ${more === 1 ? 'waits' : 'wait'} for a person; \`ferry doctor\` names them`,
    )
}

/** These columns usually fit into 80 characters. */
const NARROW = ['import', 'page', 'status', 'read', 'sent', 'rejected', 'uncertain', 'pending']
