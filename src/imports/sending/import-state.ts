import type { PoolClient } from 'pg'
import { and, drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { onlyRow } from '#src/db/rows.ts'
import { importBatches, imports } from '#src/imports/schema.ts'
import type { ImportDecision, ImportState } from './decision.ts'
import type { Pause } from './pause.ts'

/** What the next claim depends on. */
export type SendState = Pick<ImportState, 'accepted' | 'failures'>

/** Locks an import until the transaction ends. */
export async function lockImport(client: PoolClient, importId: bigint): Promise<SendState> {
  const { accepted, failures } = imports
  const rows = await drizzleOf(client)
    .select({ accepted, failures })
    .from(imports)
    .where(eq(imports.id, importId))
    .for('update')
  return onlyRow(rows, 'locking an import')
}

/**
 * Returns the state of an import that is locked already: a statement that locked and counted would count with a snapshot
 * older than the lock.
 */
export async function loadImportState(client: PoolClient, importId: bigint): Promise<ImportState> {
  const { accepted, unaccepted, failures, sent, status, on_uncertain } = imports
  const db = drizzleOf(client)
  const suspects = db
    .select({ rows: sql`coalesce(sum(${importBatches.rows}), 0)::int` })
    .from(importBatches)
    .where(and(eq(importBatches.import_id, imports.id), sql`${importBatches.state} = 'doubted'`))
  const rows = await db
    .select({
      accepted,
      unaccepted,
      failures,
      sent,
      resend: sql<boolean>`ferry.resends_uncertain(${on_uncertain}, ${status})`,
      maxRows: imports.most_rows,
      maxRejects: imports.most_rejects,
      rejected: imports.rejected_by_platform,
      suspects: sql<number>`(${suspects})`,
    })
    .from(imports)
    .where(eq(imports.id, importId))
  return onlyRow(rows, 'loading an import')
}

/** Writes what was decided about an import, but for its pause. */
export async function updateImport(
  client: PoolClient,
  importId: bigint,
  { accepted, unaccepted, failures, maxRows, maxRejects, retryAfterMs }: ImportDecision,
): Promise<void> {
  await drizzleOf(client)
    .update(imports)
    .set({
      accepted,
      unaccepted,
      failures,
      most_rows: maxRows,
      most_rejects: maxRejects,
      retry_at: sql`clock_timestamp() + ${retryAfterMs}::float8 * interval '1 ms'`,
    })
    .where(eq(imports.id, importId))
}

/** Pauses an import that is running; one that a person has paused or cancelled stays as it is. */
export async function pauseRunning(client: PoolClient, importId: bigint, pause: Pause): Promise<void> {
  await drizzleOf(client)
    .update(imports)
    .set(pausedAs(pause))
    .where(and(eq(imports.id, importId), eq(imports.status, 'running')))
}

/** The columns of a paused import. */
export function pausedAs({ code, requestId, message, whatToDo }: Pause) {
  return {
    status: 'paused',
    pause_code: code,
    pause_request_id: requestId,
    pause_message: message,
    pause_what_to_do: whatToDo,
  } as const
}
