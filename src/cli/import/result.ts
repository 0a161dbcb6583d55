import type { Pause } from '#src/imports/progress.ts'
import { type ImportSummary, missingOf } from '#src/model/import.ts'
import { EXIT, type ExitCode, gravest } from '../exit.ts'
import {
  type Cell,
  cellText,
  counted,
  duration,
  fits,
  harmless,
  print,
  printAside,
  printTable,
} from '../output.ts'
import { isRefusal } from '../run-result.ts'

/** How an import ended, or how it stands if it is still going on. */
export type Outcome = { readonly summary: ImportSummary; readonly pause: Pause | null }

/** One that goes on is done as far as the command is concerned; one that waits for a person is not. */
export function exitCodeOf({ summary, pause }: Outcome): ExitCode {
  const { status, rejected } = summary
  return gravest([
    missingOf(summary) === 0 ? EXIT.done : EXIT.failed,
    status === 'completed' && rejected > 0 ? EXIT.partial : EXIT.done,
    status === 'cancelled' ? EXIT.failed : EXIT.done,
    status === 'undecided' || status === 'staging' ? EXIT.undecided : EXIT.done,
    pause === null ? EXIT.done : isRefusal(pause.code, pause.httpStatus) ? EXIT.refused : EXIT.undecided,
  ])
}

export const SUMMARY_HEAD = [
  'import',
  'account',
  'page',
  'status',
  'read',
  'sent',
  'rejected',
  'duplicate',
].concat(['suppressed', 'already imported', 'uncertain', 'pending', 'batches', 'calls', 'took'])

export function cellsOf(summary: ImportSummary): Cell[] {
  const { read, sent, rejected, duplicate, suppressed, alreadyImported, uncertain, pending } = summary
  const about = [summary.import, summary.account, summary.page, summary.status]
  const counts = [read, sent, rejected, duplicate, suppressed, alreadyImported, uncertain, pending]
  return [...about, ...counts, summary.batches, summary.requests, duration(summary.durationMs)]
}

/** In one row, or where that is too wide, in one column. */
export function printSummary(summary: ImportSummary): void {
  const cells = cellsOf(summary)
  if (fits(SUMMARY_HEAD, [cells])) {
    printTable(SUMMARY_HEAD, [cells], '')
    return
  }
  for (const [index, name] of SUMMARY_HEAD.entries()) {
    print(`${name.padEnd(NAME_WIDTH)}  ${cellText(cells[index] ?? null)}`)
  }
}

const NAME_WIDTH = Math.max(...SUMMARY_HEAD.map(name => name.length))

/** Says on stderr why an import is not simply done, and what to do. */
export function explainOutcome({ summary, pause }: Outcome): void {
  const { import: id, status, rejected, uncertain, pending } = summary
  const say = (words: string) => printAside(harmless(`ferry: import ${id}: ${words}`))
  const missing = missingOf(summary)
  if (missing !== 0) {
    say(
      `${counted(Math.abs(missing), 'row')} ${missing > 0 ? 'missing from' : 'too many in'} the sum; please report it.`,
    )
  }
  if (pause !== null) say(pauseInWords(summary, pause))
  if (status === 'undecided' || (status === 'cancelled' && uncertain > 0)) {
    say(
      `nobody knows whether ${counted(uncertain, 'row')} arrived. \`ferry imports show ${id}\` lists the batches; ` +
        `\`ferry imports resolve ${id} --as sent|resend\` decides.`,
    )
  }
  if (status === 'cancelled') say(`cancelled; ${counted(pending, 'row')} not sent.`)
  if (status === 'completed' && rejected > 0) {
    say(
      `${counted(rejected, 'row')} rejected. \`ferry imports rejects ${id} --out rejects.csv\` writes them; corrected, ` +
        'that file can be imported.',
    )
  }
}

export function pauseInWords({ import: id }: ImportSummary, pause: Pause): string {
  const code = pause.code === null || pause.message?.includes(pause.code) ? '' : ` (${pause.code})`
  const request = pause.requestId === null ? '' : `request_id ${pause.requestId}`
  const resume = `\`ferry imports resume ${id}\` goes on.`
  return [`paused${code}.`, pause.message ?? '', pause.whatToDo ?? '', resume, request]
    .filter(Boolean)
    .join(' ')
}
