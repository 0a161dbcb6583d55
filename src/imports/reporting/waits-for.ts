import { nextSteps } from '#src/imports/next-steps.ts'
import { FIRST_ROWS_SENT } from '#src/imports/pause-codes.ts'
import { STAGED_FOR_MS } from '#src/imports/staging/expire.ts'
import { counted } from '#src/model/counted.ts'
import { type NextStep, stepsInWords } from '#src/model/next-step.ts'
import { codeAside } from '#src/model/reason.ts'
import type { SummaryRow } from './summary.ts'

/** Why an import waits for a person, without a recipient. */
export type WaitsFor = {
  readonly decision: 'confirm' | 'resume' | 'resolve'
  /** A sentence or two. */
  readonly why: string
  /** When the decision is taken from the person; null: never. */
  readonly until: Date | null
  /** The commands that decide. */
  readonly steps: readonly NextStep[]
}

/** Returns what an import waits for a person for; null if it does not wait. */
export function waitsFor(row: SummaryRow): WaitsFor | null {
  const { status, staged_at, purged_at, pause_code, pause_message, uncertain } = row
  const steps = stepsOf(row)
  if (status === 'staging' && staged_at !== null) {
    const why = 'Its file has been checked. Nothing is sent until somebody confirms it.'
    // As `oldStagings` has it: the earlier of the two.
    const since = Math.min(row.created_at.getTime(), staged_at.getTime())
    return { decision: 'confirm', why, until: new Date(since + STAGED_FOR_MS), steps }
  }
  if (status === 'paused') {
    const rest = pause_code === FIRST_ROWS_SENT ? ' The others wait for an approval.' : ''
    const why = `${pause_message ?? 'It is paused.'}${rest || codeAside(pause_code, pause_message)}`
    return { decision: 'resume', why, until: null, steps }
  }
  const isCancelled = status === 'cancelled' && uncertain > 0 && purged_at === null
  if (status === 'undecided' || isCancelled) {
    const rows = uncertain === 1 ? 'one row' : counted(uncertain, 'row')
    const why = `${isCancelled ? 'It is cancelled. ' : ''}No definite answer came for ${rows}: the platform may have them. Somebody has to find out.`
    return { decision: 'resolve', why, until: null, steps }
  }
  return null
}

/** Says what a person may do about an import; empty if nothing waits for one. */
export function nextInWords(row: SummaryRow): string {
  const steps = stepsInWords(stepsOf(row))
  return waitsFor(row)?.decision === 'confirm'
    ? `Its page of the console (/imports/${row.id}) confirms it. ${steps}`
    : steps
}

/** What a person may do about an import, see `nextSteps`. */
export function stepsOf({
  id,
  status,
  uncertain,
  rejected,
  pause_code,
  purged_at,
}: SummaryRow): readonly NextStep[] {
  return nextSteps({ id, status, uncertain, rejected, pauseCode: pause_code, isPurged: purged_at !== null })
}
