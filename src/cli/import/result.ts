import { cellsOf } from '#src/db/list.ts'
import { nextSteps } from '#src/imports/next-steps.ts'
import { SUMMARY_COLUMNS } from '#src/imports/reporting/imports-list.ts'
import type { PauseWithWords } from '#src/imports/reporting/summary.ts'
import { counted } from '#src/model/counted.ts'
import { type ImportSummary, missingOf } from '#src/model/import.ts'
import { stepsBeside, stepsInWords } from '#src/model/next-step.ts'
import { codeAside } from '#src/model/reason.ts'
import { EXIT, type ExitCode, gravest } from '../exit.ts'
import { printOne } from '../list-command.ts'
import { harmless, printAside } from '../output.ts'
import { isRefusal } from '../run-result.ts'

/** How an import ended, or where it stands if it has not ended. */
export type Outcome = {
  readonly summary: ImportSummary
  readonly pause: PauseWithWords | null
  readonly isPurged?: boolean
}

/** An import that is still active counts as done; one that waits for a person does not. */
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

/** Prints it in one row, or in one column if the row is too wide. */
export function printSummary(summary: ImportSummary): void {
  printOne(cellsOf(SUMMARY_COLUMNS, { summary }))
}

/** Prints on stderr why an import is not completed, and what to do. */
export function explainOutcome(outcome: Outcome): void {
  const { summary, pause, isPurged = false } = outcome
  const { import: id, status, rejected, uncertain, pending } = summary
  const say = (words: string) => printAside(harmless(`ferry: import ${id}: ${words.trimEnd()}`))
  const missing = missingOf(summary)
  if (missing !== 0) {
    say(
      `the counts do not add up: ${counted(Math.abs(missing), 'row')} ${missing > 0 ? 'missing' : 'too many'}. Please report it.`,
    )
  }
  if (pause !== null) say(pauseInWords(summary, pause))
  const steps = stepsInWords(stepsAfter(outcome))
  if (status === 'undecided' || (status === 'cancelled' && uncertain > 0 && !isPurged)) {
    say(
      `the outcome of ${counted(uncertain, 'row')} is unknown. \`ferry imports show ${id}\` lists the batches. ${steps}`,
    )
  }
  if (status === 'cancelled') say(`cancelled; ${counted(pending, 'row')} not sent.`)
  if (status === 'completed' && rejected > 0) say(`${counted(rejected, 'row')} rejected. ${steps}`)
}

/** What a person can do next, without the commands that the message of a pause names already. */
function stepsAfter({ summary, pause, isPurged = false }: Outcome) {
  const { import: id, status, uncertain, rejected } = summary
  const pauseCode = pause?.code ?? null
  const steps = nextSteps({ id: id ?? '', status, uncertain, rejected, pauseCode, isPurged })
  return stepsBeside(pause?.whatToDo, steps)
}

/** Why it is paused, and the refusal with the platform's own words: it alone if it says both. */
function messagesOf({ message, platformMessage: refusal }: PauseWithWords): string[] {
  if (refusal === null) return [message ?? '']
  const said = /[.!?]$/.test(refusal) ? refusal : `${refusal}.`
  const isRepeated = message !== null && said.startsWith(message.replace(/\.$/, ''))
  return [isRepeated ? '' : (message ?? ''), said]
}

export function pauseInWords(summary: ImportSummary, pause: PauseWithWords): string {
  const request = pause.requestId === null ? '' : `request_id ${pause.requestId}`
  return [
    `paused${codeAside(pause.code, pause.message)}.`,
    ...messagesOf(pause),
    pause.whatToDo ?? '',
    stepsInWords(stepsAfter({ summary, pause })),
    request,
  ]
    .filter(Boolean)
    .join(' ')
}
