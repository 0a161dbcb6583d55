import type { ImportStatus } from '#src/model/import.ts'
import type { NextStep } from '#src/model/next-step.ts'
import { TOO_MANY_REJECTS } from './pause-codes.ts'

/** What decides which commands help with an import. What is left out is not known, or not so. */
export type ImportStanding = {
  readonly id: bigint | string
  readonly status: ImportStatus
  /** Rows whose outcome is unknown. */
  readonly uncertain: number
  readonly rejected: number
  readonly pauseCode?: string | null
  readonly isPurged?: boolean
}

/**
 * Returns what a person may do about an import that does not go on, or does not end, by itself: commands, in the order in
 * which they are worth running. The command line, `doctor`, the log and the console all say these. Empty if nothing waits
 * for a person.
 */
export function nextSteps(of: ImportStanding): readonly NextStep[] {
  const { id, status, uncertain, rejected, pauseCode = null, isPurged = false } = of
  const cancel = { command: `ferry imports cancel ${id}`, does: 'ends it' }
  const rejects = {
    command: `ferry imports rejects ${id} --out rejects-${id}.csv`,
    does: 'writes the rejected rows to a file, to be corrected and imported',
  }
  const hasRejects = rejected > 0 && !isPurged
  switch (status) {
    case 'staging':
      return [cancel]
    case 'queued':
    case 'running':
      return []
    case 'paused':
      return [
        ...(pauseCode === TOO_MANY_REJECTS && hasRejects ? [rejects] : []),
        ...(uncertain > 0 ? resolving(id) : []),
        { command: `ferry imports resume ${id}`, does: 'continues it' },
        cancel,
      ]
    case 'undecided':
      return [...resolving(id), cancel]
    case 'completed':
      return hasRejects ? [rejects] : []
    case 'cancelled':
      return uncertain > 0 && !isPurged ? resolving(id) : []
  }
}

/** Says what became of every batch whose outcome is unknown; `--batch` says it of one. */
function resolving(id: bigint | string): NextStep[] {
  const command = `ferry imports resolve ${id} --as`
  return [
    { command: `${command} sent`, does: 'says that the platform has the uncertain rows' },
    { command: `${command} resend`, does: 'has them sent again' },
  ]
}

/** Returns what may be done about an active import that no worker processes. */
export function stepsWithoutWorker(id: bigint | string): readonly NextStep[] {
  return [
    { command: 'ferry worker', does: 'starts a worker' },
    { command: `ferry imports resume ${id} --wait`, does: 'processes it here' },
  ]
}
