import type { Pool } from 'pg'
import { inTransaction } from '#src/db/pool.ts'
import { ImportRefuses } from '#src/imports/errors.ts'
import { type ImportHappening, type LockedImport, lockAsSeen, moveImport } from '#src/imports/move-import.ts'
import { nextSteps } from '#src/imports/next-steps.ts'
import { PAUSED_BY_PERSON } from '#src/imports/sending/pause.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { stepsInWords } from '#src/model/next-step.ts'

/*
 * The decisions of a person about an import. Each is one transaction that locks the import's row, and is recorded with the
 * person. `src/model/import-moves.ts` says what is possible in which status. Each returns the new status, and throws
 * `ImportNotFound`, or `ImportRefuses` if the status does not allow it, or is not what the person saw (`seenOf`), if that is given.
 */

/** Lets workers send a staged import; one without recipients is completed by it. */
export function confirmImport(pool: Pool, id: bigint, by: ActedBy, seen?: string): Promise<ImportStatus> {
  return decide(pool, id, { event: 'confirm', by }, seen)
}

/** Stops an import after the calls in flight. */
export function pauseImport(pool: Pool, id: bigint, by: ActedBy, seen?: string): Promise<ImportStatus> {
  return decide(pool, id, { event: 'pause', pause: PAUSED_BY_PERSON, by }, seen)
}

/** Queues a paused import again. Its failures, its back-off and the reason of its pause are forgotten. */
export function resumeImport(pool: Pool, id: bigint, by: ActedBy, seen?: string): Promise<ImportStatus> {
  return decide(pool, id, { event: 'resume', by }, seen)
}

/** Ends an import. Calls in flight still end and are counted; rows that were not sent stay pending. */
export function cancelImport(pool: Pool, id: bigint, by: ActedBy, seen?: string): Promise<ImportStatus> {
  return decide(pool, id, { event: 'cancel', by }, seen)
}

function decide(
  pool: Pool,
  id: bigint,
  happening: ImportHappening,
  seen: string | undefined,
): Promise<ImportStatus> {
  return inTransaction(pool, async client => {
    const found = await lockAsSeen(client, id, seen)
    const { status, refused } = await moveImport(client, found, happening)
    if (refused !== null) throw refusal(found, refused)
    return status
  })
}

/** The error for a decision that the import's status does not allow: why, and what can be done instead. */
export function refusal(found: LockedImport, why: string): ImportRefuses {
  return new ImportRefuses(`import ${found.id} is ${found.status}: ${why}. ${whatCanBeDone(found)}`)
}

function whatCanBeDone({ id, status, uncertain }: LockedImport): string {
  const steps = stepsInWords(nextSteps({ id, status, uncertain, rejected: 0 }))
  switch (status) {
    case 'staging':
      return `It waits to be confirmed. ${steps}`
    case 'queued':
    case 'running':
      return `\`ferry imports pause ${id}\` pauses it, \`ferry imports cancel ${id}\` ends it.`
    case 'paused':
    case 'undecided':
      return steps
    case 'completed':
      return `\`ferry imports show ${id}\` shows its outcome.`
    case 'cancelled':
      return `To send the others, import the file again: recipients that were sent are left out.${uncertain > 0 ? ` Decide about its uncertain batches first. ${steps}` : ''}`
  }
}
