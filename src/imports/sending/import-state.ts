import type { PoolClient } from 'pg'
import { builtOnce, eq, sql } from '#src/db/drizzle.ts'
import { onlyRow } from '#src/db/rows.ts'
import { lockForMove, moveImport, type Pause } from '#src/imports/move-import.ts'
import { imports } from '#src/imports/schema.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { resendsUncertain } from './decide.ts'
import type { ImportDecision, ImportState } from './decision.ts'

/** The part of the state that the next claim depends on. */
export type SendState = Pick<ImportState, 'accepted' | 'failures'>

/** Locks an import until the transaction ends, and returns how it is then. */
export async function lockImport(client: PoolClient, importId: bigint): Promise<ImportState> {
  const { status, onUncertain, ...state } = onlyRow(
    await LOCK_IMPORT(client).execute({ importId }),
    'locking an import',
  )
  return { ...state, resend: resendsUncertain(onUncertain, status) }
}

const LOCK_IMPORT = builtOnce(db => {
  const { accepted, unaccepted, failures, sent, status, on_uncertain: onUncertain } = imports
  const { max_rows: maxRows, max_rejects: maxRejects, rejected_by_platform: rejected } = imports
  return db
    .select({ accepted, unaccepted, failures, sent, status, onUncertain, maxRows, maxRejects, rejected })
    .from(imports)
    .where(eq(imports.id, sql.placeholder('importId')))
    .for('update')
})

/** SQL that counts the suspects of an import; `importId` is SQL for its id, and names no table as `s`. */
export function suspectsInSql(importId: string): string {
  return `(select coalesce(sum(s.rows), 0)::int from ferry.import_batches s
    where s.import_id = ${importId} and s.state = 'suspect')`
}

/** Writes what was decided about an import, but for its pause. */
export async function updateImport(
  client: PoolClient,
  importId: bigint,
  { accepted, unaccepted, failures, maxRows, maxRejects, retryAfterMs }: ImportDecision,
): Promise<void> {
  const values = { accepted, unaccepted, failures, maxRows, maxRejects, retryAfterMs }
  await UPDATE_IMPORT(client).execute({ importId, ...values })
}

const UPDATE_IMPORT = builtOnce(db => {
  const value = (name: keyof ImportDecision) => sql`${sql.placeholder(name)}`
  return db
    .update(imports)
    .set({
      accepted: value('accepted'),
      unaccepted: value('unaccepted'),
      failures: value('failures'),
      max_rows: value('maxRows'),
      max_rejects: value('maxRejects'),
      retry_at: sql`greatest(${imports.retry_at}, clock_timestamp() + ${value('retryAfterMs')}::float8 * interval '1 ms')`,
    })
    .where(eq(imports.id, sql.placeholder('importId')))
})

/** Pauses an import unless it has ended, or a person is to decide about it. Returns its status then. */
export async function stopImport(client: PoolClient, importId: bigint, pause: Pause): Promise<ImportStatus> {
  const { status } = await moveImport(client, await lockForMove(client, importId), { event: 'stop', pause })
  return status
}
