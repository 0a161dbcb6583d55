import { FIRST_ROWS_SENT } from '#src/imports/pause-codes.ts'
import type { SummaryRow } from '#src/imports/reporting/summary.ts'
import { isActive, isEnded } from '#src/model/import.ts'

/** What a person may do with an import in its state. `path` is that of its confirmation, after `/imports/ID/`. */
export type Decision = { readonly path: string; readonly words: string }

/** Returns the decisions that the state of an import allows, the most likely first. */
export function decisionsOf(row: SummaryRow): Decision[] {
  const { status } = row
  const decisions = [
    status === 'staging' && row.staged_at !== null && { path: 'confirm', words: 'Confirm' },
    isActive(status) && { path: 'pause', words: 'Pause' },
    status === 'paused' && {
      path: 'resume',
      words: isFirstRowsApproval(row) ? 'Approve the rest' : 'Resume',
    },
    mayResolve(row) && { path: 'resolve/sent', words: 'Uncertain rows: they arrived' },
    mayResolve(row) && { path: 'resolve/resend', words: 'Uncertain rows: send them again' },
    !isEnded(status) && { path: 'cancel', words: 'Cancel' },
  ]
  return decisions.filter(decision => decision !== false)
}

/** Whether it has sent its first rows, and the others wait for somebody who has looked at them. */
export function isFirstRowsApproval({ status, pause_code }: SummaryRow): boolean {
  return status === 'paused' && pause_code === FIRST_ROWS_SENT
}

/** Whether it has rows of which a person may say what became of them. */
export function mayResolve({ status, uncertain }: SummaryRow): boolean {
  return uncertain > 0 && status !== 'completed' && status !== 'staging'
}
