import type { Pool, PoolClient } from 'pg'
import { findAll } from '#src/db/rows.ts'
import { wordsInSql } from '#src/db/words-in-sql.ts'
import { nextSteps } from '#src/imports/next-steps.ts'
import { STAGED_FOR_MS } from '#src/imports/staging/expire.ts'
import { FIRST_ROWS_SENT } from '#src/imports/states.ts'
import { counted } from '#src/model/counted.ts'
import { IMPORT_STATUSES, isActive, isEnded } from '#src/model/import.ts'
import { isAllowed } from '#src/model/import-moves.ts'
import { type NextStep, stepsInWords } from '#src/model/next-step.ts'
import { codeAside } from '#src/model/reason.ts'
import { SUMMARIES, SummaryRow } from './summary.ts'

/** The decisions that an import may wait for, the most likely first. */
const DECISIONS = ['confirm', 'resume', 'resolve'] as const

/** Why an import waits for a person, without a recipient. */
export type WaitsFor = {
  readonly decision: (typeof DECISIONS)[number]
  /** A sentence or two. */
  readonly why: string
  /** When the decision is taken from the person; null: never. */
  readonly until: Date | null
}

/** Returns what an import waits for a person for; null if it does not wait. A purged one does not. */
export function waitsFor(row: SummaryRow): WaitsFor | null {
  const { status, createdAt, stagedAt, purgedAt, pauseCode, pauseMessage, uncertain } = row
  if (isActive(status) || purgedAt !== null) return null
  const decision = DECISIONS.find(one => isAllowed(one, row))
  switch (decision) {
    case undefined:
      return null
    case 'confirm': {
      const why = 'Its file has been checked. Nothing is sent until you confirm it.'
      // As `oldStagings` has it: the earlier of the two.
      const since = Math.min(createdAt.getTime(), stagedAt?.getTime() ?? Infinity)
      return { decision, why, until: new Date(since + STAGED_FOR_MS) }
    }
    case 'resume': {
      const rest = isFirstRowsApproval(row) ? ' The others wait for an approval.' : ''
      const why = `${pauseMessage ?? 'It is paused.'}${rest || codeAside(pauseCode, pauseMessage)}`
      return { decision, why, until: null }
    }
    case 'resolve': {
      const rows = uncertain === 1 ? 'one row' : counted(uncertain, 'row')
      const why = `${isEnded(status) ? `It is ${status}. ` : ''}No definite answer came for ${rows}: the platform may have them. Check the platform, then decide.`
      return { decision, why, until: null }
    }
  }
}

/** Whether it has sent its first rows, and the others wait for somebody who has looked at them. */
export function isFirstRowsApproval({ status, pauseCode }: SummaryRow): boolean {
  return status === 'paused' && pauseCode === FIRST_ROWS_SENT
}

/** Returns the imports that `waitsFor` says something of, the oldest first. */
export function listWaitingRows(client: Pool | PoolClient, limit: number): Promise<SummaryRow[]> {
  return findAll(client, SummaryRow, `${SUMMARIES} where ${WAITS_IN_SQL} order by i.id limit $1`, [limit])
}

/** Beside its status, what a decision about row `i` of `ferry.imports` depends on; see `isAllowed`. */
const DEPENDS_ON = {
  confirm: 'i.staged_at is not null',
  resume: 'true',
  resolve: 'i.uncertain + b.lost > 0',
} as const satisfies Record<(typeof DECISIONS)[number], string>

/** `waitsFor` in SQL: the statuses come from the same table. */
const WAITS_IN_SQL = `i.purged_at is null and (${DECISIONS.map(decision => {
  const statuses = IMPORT_STATUSES.filter(
    status => !isActive(status) && isAllowed(decision, { status, stagedAt: new Date(0), uncertain: 1 }),
  )
  return `i.status in (${wordsInSql(statuses)}) and ${DEPENDS_ON[decision]}`
}).join(' or ')})`

/** The next steps of a person in words; empty if nothing waits for a person. */
export function nextInWords(row: SummaryRow): string {
  const steps = stepsInWords(stepsOf(row))
  return waitsFor(row)?.decision === 'confirm'
    ? `Its page of the console (/imports/${row.id}) confirms it; without a console, import the file again: this one expires within a day. ${steps}`
    : steps
}

/** The next steps of a person, see `nextSteps`. */
export function stepsOf(row: SummaryRow): readonly NextStep[] {
  return nextSteps({ ...row, pauseCode: row.pauseCode, isPurged: row.purgedAt !== null })
}
