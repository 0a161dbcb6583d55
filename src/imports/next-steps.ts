import { type ImportStatus, isActive } from '#src/model/import.ts'
import { type ImportAction, isAllowed } from '#src/model/import-moves.ts'
import type { NextStep } from '#src/model/next-step.ts'
import { FIRST_ROWS_SENT, TOO_MANY_REJECTS } from './states.ts'

/** The facts that decide which commands help with an import. A fact left out is unknown, or not true. */
export type ImportStanding = {
  readonly id: bigint | string
  readonly status: ImportStatus
  /** Rows whose outcome is unknown. */
  readonly uncertain: number
  readonly rejected: number
  readonly pauseCode?: string | null
  readonly isPurged?: boolean
}

/** Pauses before which a person looks at the rejects. */
const REJECTS_TO_SEE: readonly string[] = [TOO_MANY_REJECTS, FIRST_ROWS_SENT]

/**
 * Returns what a person may do about an import that does not go on, or does not end, by itself: commands, in the order in
 * which they are worth running. The command line, `doctor`, the log and the console all say these. Empty if nothing waits
 * for a person.
 */
export function nextSteps(of: ImportStanding): readonly NextStep[] {
  const { id, status, uncertain, rejected, pauseCode = null, isPurged = false } = of
  const rejects = {
    command: `ferry imports rejects ${id} --out rejects-${id}.csv`,
    does: 'writes the rejected rows to a file, to be corrected and imported',
  }
  if (isActive(status)) return []
  const isAboutRejects =
    status === 'completed' || (status === 'paused' && REJECTS_TO_SEE.includes(pauseCode ?? ''))
  const may = (action: ImportAction) => isAllowed(action, { status, uncertain, stagedAt: null })
  return [
    ...(isAboutRejects && rejected > 0 && !isPurged ? [rejects] : []),
    ...(may('resolve') && !isPurged ? resolving(id) : []),
    ...(may('resume') ? [{ command: `ferry imports resume ${id}`, does: 'continues it' }] : []),
    ...(may('cancel') ? [{ command: `ferry imports cancel ${id}`, does: 'ends it' }] : []),
  ]
}

/** Records the outcome of every batch whose outcome is unknown; `--batch` records that of one. */
function resolving(id: bigint | string): NextStep[] {
  const command = `ferry imports resolve ${id} --as`
  return [
    { command: `${command} sent`, does: 'marks the uncertain rows as sent' },
    { command: `${command} resend`, does: 'sends them again' },
  ]
}

/** Returns what may be done about an active import that no worker processes. */
export function stepsWithoutWorker(id: bigint | string): readonly NextStep[] {
  return [
    { command: 'ferry worker', does: 'starts a worker' },
    { command: `ferry imports resume ${id} --wait`, does: 'processes it here' },
  ]
}
