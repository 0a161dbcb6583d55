import type { Pool, PoolClient } from 'pg'
import { recordActs } from '#src/db/audit.ts'
import { drizzleOf, eq } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import { ImportNotFound, ImportRefuses } from '#src/imports/errors.ts'
import { nextSteps } from '#src/imports/next-steps.ts'
import { imports } from '#src/imports/schema.ts'
import type { ActedBy, Action } from '#src/model/act.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { stepsInWords } from '#src/model/next-step.ts'

/*
 * What a person may do with an import, one decision a file. Each is one transaction that locks the import's row. A worker
 * locks the row too before each batch, so a decision takes effect within one batch, on whatever machine it is made.
 *
 *     confirm   staging ─────────────────────► queued, or completed if it has no recipients
 *     pause     queued, running ─────────────► paused
 *     resume    paused ──────────────────────► queued
 *     cancel    any that has not ended ──────► cancelled
 *     resolve   undecided ───────────────────► queued, or completed if nothing is left
 *               any other but completed ─────► as it was
 *     purge     completed, cancelled ────────► as it was, without its recipients
 *
 * Each is recorded with who made it, in the same transaction, and only if it changes something. Each throws `ImportNotFound`, or `ImportRefuses` if the status of the import does not allow it.
 */

/** What a decision about an import depends on. */
export type LockedImport = Pick<
  typeof imports.$inferSelect,
  'account' | 'status' | 'recipients' | 'staged_at' | 'purged_at'
>

/** Runs a decision in one transaction, with the import's row locked. Throws `ImportNotFound`. */
export function decideUnderLock<T>(
  pool: Pool,
  id: bigint,
  decision: (client: PoolClient, state: LockedImport) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, async client => decision(client, await lockForDecision(client, id)))
}

/** Locks an import until the transaction ends. Throws `ImportNotFound`. */
export async function lockForDecision(client: PoolClient, id: bigint): Promise<LockedImport> {
  const { account, status, recipients, staged_at, purged_at } = imports
  const [state] = await drizzleOf(client)
    .select({ account, status, recipients, staged_at, purged_at })
    .from(imports)
    .where(eq(imports.id, id))
    .for('update')
  if (!state) throw new ImportNotFound(id)
  return state
}

/** Records a decision in its transaction. */
export function recordDecision(
  client: PoolClient,
  id: bigint,
  { account }: Pick<LockedImport, 'account'>,
  action: Action,
  by: ActedBy,
): Promise<void> {
  return recordActs(client, by, [{ account, action, subjectKind: 'import', subject: `${id}` }])
}

/** The error for a decision that the import's status does not allow: why, and what can be done instead. */
export function refusal(id: bigint, status: ImportStatus, why: string): ImportRefuses {
  const next = whatCanBeDone(id, status)
  return new ImportRefuses(`import ${id} is ${status}: ${why}. ${next}`)
}

function whatCanBeDone(id: bigint, status: ImportStatus): string {
  const steps = stepsInWords(nextSteps({ id, status, uncertain: 0, rejected: 0 }))
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
      return `To send the others, import the file again: recipients that were sent are left out. If it has uncertain batches, decide about them first: \`ferry imports show ${id}\` says how.`
  }
}
