import { estimateInWords } from '#src/imports/estimate.ts'
import type { StagingReport } from '#src/imports/staging/staging-report.ts'
import { counted, number } from '#src/model/counted.ts'
import { coloured, emphasised, harmless, print, printTable } from '../output.ts'

const DELIMITERS = { ',': 'comma', ';': 'semicolon', '\t': 'tab' } as const

/** Prints what was found in a file, and how long sending it takes. */
export function printStagingReport(path: string, staged: StagingReport, estimateMs: number): void {
  printFile(path, staged.file)
  printCounts(staged)
  printSamples(staged)
  for (const warning of staged.warnings) print(`${coloured('yellow', 'warning')}: ${harmless(warning)}`)
  const { pending, batches, page, account } = staged.summary
  if (pending === 0) {
    print('\nNo recipients to send.')
    return
  }
  print(
    `\n${emphasised(counted(pending, 'row'))} to page ${page} of account ${account}, in ` +
      `${counted(batches, 'call')}: ${estimateInWords(estimateMs)}.`,
  )
}

function printFile(
  path: string,
  { compression, format, delimiter, mapped, unused }: StagingReport['file'],
): void {
  const how = [
    format === 'csv' ? 'CSV' : 'NDJSON',
    delimiter === null ? '' : `separated by ${DELIMITERS[delimiter]}`,
    compression === 'none' ? '' : `compressed with ${compression}`,
  ]
  print(`${emphasised(harmless(path === '-' ? 'stdin' : path))}: ${how.filter(Boolean).join(', ')}`)
  const from = Object.entries(mapped).map(([field, column]) => `${field} from ${JSON.stringify(column)}`)
  if (from.length > 0) print(harmless(`  ${from.join(', ')}`))
  if (unused.length > 0)
    print(harmless(`  not used: ${unused.map(column => JSON.stringify(column)).join(', ')}`))
}

function printCounts({ summary, reasons }: StagingReport): void {
  print('')
  printTable(
    ['rows', 'what', 'why'],
    [
      [summary.read, 'read', ''],
      [summary.pending, 'to be sent', ''],
      ...reasons.map(({ kind, reason, rows }) => [rows, kind, reason]),
    ],
    '',
  )
}

function printSamples({ samples, rejectSamples, summary }: StagingReport): void {
  if (samples.length > 0) {
    print(`\n${emphasised('The first rows, as they would be sent')} (addresses are hidden here)`)
    printTable(
      ['line', 'recipient', 'components', 'locale'],
      samples.map(({ line, recipient, all, componentIds, locale }) => [
        line,
        recipient,
        all ? 'all' : componentIds.join(', '),
        locale,
      ]),
      '',
    )
  }
  if (rejectSamples.length > 0) {
    print(
      `\n${emphasised('Rejected')}: ${number(rejectSamples.length)} of ${counted(summary.rejected, 'row')}`,
    )
    printTable(
      ['line', 'column', 'what is wrong'],
      rejectSamples.map(({ line, column, message }) => [line, column, message]),
      '',
    )
  }
}
