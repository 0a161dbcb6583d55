import type { Cell } from '#src/db/list.ts'
import type { Ferry } from '#src/ferry.ts'
import type { BatchRow } from '#src/imports/reporting/batches.ts'
import { loadProgress, type Progress } from '#src/imports/reporting/progress.ts'
import { type Report, reportImport } from '#src/imports/reporting/report.ts'
import type { SummaryRow } from '#src/imports/reporting/summary.ts'
import { nextInWords, waitsFor } from '#src/imports/reporting/waits-for.ts'
import { counted } from '#src/model/counted.ts'
import { isActive } from '#src/model/import.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { pauseInWords, printSummary } from '../import/result.ts'
import { inOneLine } from '../import/view.ts'
import { emphasised, fits, harmless, instant, print, printAside, printJson, printTable } from '../output.ts'

/** A terminal shows no more batches than this. */
const SHOWN = 20

/** Prints an import, recounted from its rows. Counts that do not add up are an error. */
export async function showImport(
  { pool, accounts }: Pick<Ferry, 'pool' | 'accounts'>,
  id: bigint,
  options: { json?: true },
): Promise<ExitCode> {
  const report = await reportImport(pool, id)
  const progress = await loadProgress(pool, id, accounts.get(report.summary.account)?.importLimit ?? null)
  if (options.json) printJsonReport(report)
  else printReport(report, progress)
  for (const difference of report.differences) {
    printAside(
      `ferry: import ${id} does not add up: ${difference}. Please report it with \`ferry imports show ${id} --json\`.`,
    )
  }
  return report.differences.length > 0 ? EXIT.failed : EXIT.done
}

function printJsonReport({ summary, batches, reasons, next, ...about }: Report): void {
  printJson(summary)
  printJson(about)
  for (const batch of batches) {
    const { id, ...rest } = batch
    printJson({ batch: id, ...rest })
  }
  reasons.forEach(printJson)
}

function printReport(report: Report, progress: Progress): void {
  const { summary, file, method, createdAt, finishedAt, purgedAt, pause, next, reasons, batches } = report
  printSummary(summary)
  const times = [
    `created ${instant(createdAt)}`,
    finishedAt === null ? '' : `ended ${instant(finishedAt)}`,
    purgedAt === null ? '' : `recipients purged ${instant(purgedAt)}`,
  ]
  print('')
  print(harmless(`${file}, by ${method}; ${times.filter(Boolean).join(', ')}`))
  if (pause !== null) print(`\n${harmless(pauseInWords(summary, pause))}`)
  else if (next !== '') print(`\n${harmless(next)}`)
  else if (isActive(summary.status)) print(`\n${harmless(inOneLine(progress))}`)
  if (reasons.length > 0) {
    print(`\n${emphasised('Rows not sent, and why')}`)
    const rows = reasons.map(({ rows, kind, origin, reason }) => [rows, kind, origin, reason])
    printTable(['rows', 'what', 'by', 'reason'], rows, '')
  }
  printBatches(summary.import, batches)
}

/** Batches that are not sent, or were resent, come first. */
function printBatches(id: bigint | null, batches: readonly BatchRow[]): void {
  const sorted = batches.toSorted((a, b) => Number(isPlain(a)) - Number(isPlain(b)))
  print(`\n${emphasised('Batches')}`)
  const rows = sorted
    .slice(0, SHOWN)
    .map(batch => [
      BigInt(batch.id),
      `${batch.fromLine}-${batch.toLine}`,
      batch.rows,
      batch.state,
      batch.calls,
      batch.resends,
      batch.sentAt,
      batch.httpStatus,
      batch.errorCode,
      batch.requestIds.join(' '),
    ])
  const head = ['batch', 'lines', 'rows', 'state', 'calls', 'resends', 'sent', 'HTTP', 'error', 'request_id']
  const none = 'No batches yet.'
  if (fits(head, rows)) printTable(head, rows, none)
  else printTable(NARROW_HEAD, sorted.slice(0, SHOWN).map(narrow), none)
  const more = batches.length - SHOWN
  if (more > 0) print(`  and ${counted(more, 'batch', 'batches')} more (\`ferry imports show ${id} --json\`)`)
}

const NARROW_HEAD = ['batch', 'lines', 'rows', 'state', 'calls', 'how it went']

/** A batch for a terminal that is too narrow for all columns. */
function narrow(batch: BatchRow): Cell[] {
  const { id, fromLine, toLine, rows, state, calls, resends, sentAt, httpStatus, errorCode } = batch
  const how = [
    sentAt === null ? '' : instant(sentAt),
    httpStatus === null ? '' : `HTTP ${httpStatus}`,
    errorCode ?? '',
    resends === 0 ? '' : `resent ${counted(resends, 'time')}`,
    ...batch.requestIds,
  ]
  return [BigInt(id), `${fromLine}-${toLine}`, rows, state, calls, how.filter(Boolean).join(', ')]
}

function isPlain({ state, resends }: BatchRow): boolean {
  return state === 'sent' && resends === 0
}

/** At most this many imports that wait for a person are named. */
const MAX_NAMED = 5

/** Prints what a person can do about the imports that wait for one. */
export function noteWaiting(rows: readonly SummaryRow[]): void {
  const waiting = rows.filter(row => waitsFor(row) !== null)
  for (const row of waiting.slice(0, MAX_NAMED)) {
    printAside(harmless(`ferry: import ${row.id} is ${row.status}. ${nextInWords(row)}`))
  }
  const more = waiting.length - MAX_NAMED
  if (more > 0)
    printAside(
      `ferry: ${counted(more, 'more import of these waits', 'more imports of these wait')} for a person; \`ferry doctor\` names them`,
    )
}
