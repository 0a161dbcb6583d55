import type { PoolClient } from 'pg'
import { builtOnce, drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { onlyRow } from '#src/db/rows.ts'
import { tellOfStatus } from '#src/imports/events.ts'
import { imports } from '#src/imports/schema.ts'
import { isActive } from '#src/model/import.ts'
import { resendsUncertain } from './decide.ts'
import type { ImportDecision, ImportState } from './decision.ts'
import type { Pause } from './pause.ts'

/** What the next claim depends on. */
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
  const { most_rows: maxRows, most_rejects: maxRejects, rejected_by_platform: rejected } = imports
  return db
    .select({ accepted, unaccepted, failures, sent, status, onUncertain, maxRows, maxRejects, rejected })
    .from(imports)
    .where(eq(imports.id, sql.placeholder('importId')))
    .for('update')
})

/** SQL that counts the suspects of an import; `importId` is SQL for its id, and names no table as `s`. */
export function suspectsInSql(importId: string): string {
  return `(select coalesce(sum(s.rows), 0)::int from ferry.import_batches s
    where s.import_id = ${importId} and s.state = 'doubted')`
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
      most_rows: value('maxRows'),
      most_rejects: value('maxRejects'),
      retry_at: sql`clock_timestamp() + ${value('retryAfterMs')}::float8 * interval '1 ms'`,
    })
    .where(eq(imports.id, sql.placeholder('importId')))
})

/**
 * Pauses an import that is running, or that a person has resumed meanwhile. One that is paused already has both reasons then:
 * whoever resumes it is to know them. One that has ended stays as it is.
 */
export async function pauseActive(client: PoolClient, importId: bigint, pause: Pause): Promise<void> {
  const { status, pause_code: code, pause_message: message, pause_what_to_do: whatToDo } = imports
  const where = eq(imports.id, importId)
  const found = await drizzleOf(client).select({ status, code, message, whatToDo }).from(imports).where(where)
  const before = onlyRow(found, 'pausing an import')
  if (!isActive(before.status) && before.status !== 'paused') return
  const isPaused = before.status === 'paused'
  if (isPaused && before.code === pause.code) return
  await drizzleOf(client)
    .update(imports)
    .set(pausedAs(isPaused ? withBoth(before, pause) : pause))
    .where(where)
  await tellOfStatus(client, importId)
}

/** A pause for two reasons. The code is the earlier one, unless that was a person's. */
function withBoth(
  { code, message, whatToDo }: { code: string | null; message: string | null; whatToDo: string | null },
  pause: Pause,
): Pause {
  const both = (one: string | null, other: string | null) => [one, other].filter(Boolean).join(' ')
  return {
    code: code ?? pause.code,
    requestId: pause.requestId,
    message: both(message, pause.message),
    whatToDo: both(whatToDo, pause.whatToDo),
  }
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
