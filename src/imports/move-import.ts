import type { PoolClient } from 'pg'
import { recordActs } from '#src/db/audit.ts'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { raiseEvent, resolveEvent } from '#src/db/outbox.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { EventKind } from '#src/model/event.ts'
import { type ImportStatus, isActive } from '#src/model/import.ts'
import { type Left, moveOf } from '#src/model/import-moves.ts'
import { ImportNotFound, ImportRefuses } from './errors.ts'
import { imports } from './schema.ts'

/*
 * Carries out the moves of `src/model/import-moves.ts`. Nothing else writes `imports.status`.
 *
 *     lock the row ──► ask the table ──► status and its columns ──► audit, if a person decided ──► outbox
 *
 * All in the caller's transaction. A worker locks the row too before each batch, so a move takes effect within one batch, on
 * whatever machine it is made. A queue takes part in no transaction: after the commit, a command wakes a worker for an import
 * that is `queued` then, and otherwise the reconciler finds it.
 */

/** An import whose row is locked until the transaction ends. */
export type LockedImport = typeof imports.$inferSelect

/** Throws `ImportNotFound`. */
export async function lockForMove(client: PoolClient, id: bigint): Promise<LockedImport> {
  const [found] = await drizzleOf(client).select().from(imports).where(eq(imports.id, id)).for('update')
  if (!found) throw new ImportNotFound(id)
  return found
}

/** What a person saw of an import before a decision. A worker that begins or ends a turn changes nothing of it. */
export function seenOf({ status, pauseCode }: { status: ImportStatus; pauseCode: string | null }): string {
  if (isActive(status)) return 'active'
  return status === 'paused' ? `paused ${pauseCode ?? ''}` : status
}

/** The same as `lockForMove`, for a decision. Throws `ImportRefuses` if the import is not any more as it was seen, if that is known. */
export async function lockAsSeen(
  client: PoolClient,
  id: bigint,
  seen: string | undefined,
): Promise<LockedImport> {
  const found = await lockForMove(client, id)
  if (seen !== undefined && seen !== seenOf({ ...found, pauseCode: found.pause_code })) {
    const now = `import ${id} has changed since you looked at it: it is ${found.status} now`
    throw new ImportRefuses(`${now}. Nothing was done. Look again, then decide.`)
  }
  return found
}

/** Why an import is paused, and what to do about it. */
export type Pause = {
  /** Null if a person paused it. */
  readonly code: string | null
  readonly requestId: string | null
  readonly message: string
  readonly whatToDo: string | null
}

/** An event of the table with what carrying it out needs. `by` is null if no person decided. */
export type ImportHappening =
  | { readonly event: 'confirm' | 'resume' | 'cancel'; readonly by: ActedBy }
  | { readonly event: 'pause'; readonly pause: Pause; readonly by: ActedBy }
  | { readonly event: 'resolve'; readonly left: Left | undefined; readonly by: ActedBy | null }
  | { readonly event: 'purge'; readonly by: ActedBy | null }
  | { readonly event: 'start' }
  | { readonly event: 'stop'; readonly pause: Pause }
  | { readonly event: 'exhaust'; readonly left: 'uncertain' | 'nothing' }
  | { readonly event: 'exhaust'; readonly left: 'rows'; readonly pause: Pause }

/** The status after an event, and why it was refused, if so: then nothing was written. */
export type Moved = { readonly status: ImportStatus; readonly refused: string | null }

/** Moves a locked import as the table says. */
export async function moveImport(
  client: PoolClient,
  before: LockedImport,
  happening: ImportHappening,
): Promise<Moved> {
  const { id, account, status } = before
  const left = 'left' in happening ? happening.left : leftToConfirm(before)
  const move = moveOf(happening.event, { status, left })
  if ('refused' in move) return { status, refused: move.refused }
  const changes = {
    ...(move.to !== status && { status: move.to, ...columnsOf(move.to) }),
    ...columnsAfter(happening, before),
  }
  if (Object.keys(changes).length > 0) {
    await drizzleOf(client).update(imports).set(changes).where(eq(imports.id, id))
  }
  if ('by' in happening && happening.by) {
    const act = { account, action: happening.event, subjectKind: 'import', subject: `${id}` } as const
    await recordActs(client, happening.by, [act])
  }
  if (move.to !== status) {
    await tellOfMove(client, before, move.to, 'pause' in happening ? happening.pause : null)
  }
  return { status: move.to, refused: null }
}

/** The rest of an import of which nothing was sent yet. */
function leftToConfirm({ staged_at, recipients }: LockedImport): Left {
  if (staged_at === null) return 'file'
  return recipients > 0 ? 'rows' : 'nothing'
}

const NOW = sql`clock_timestamp()`

/** The columns that a new status sets. */
function columnsOf(to: ImportStatus) {
  const started_at = sql`coalesce(${imports.started_at}, ${NOW})`
  switch (to) {
    case 'running':
      return { started_at }
    case 'completed':
      return { started_at, finished_at: NOW }
    case 'cancelled':
      return { finished_at: NOW }
    default:
      return {}
  }
}

/** The limit of rejects of a new import, see `MAX_REJECTED_SHARE`. A person who resumes it after that pause raises it. */
const FIRST_MAX_REJECTS = 10

/** The other columns that an event sets. `resume` clears the failures and the back-off. */
function columnsAfter(happening: ImportHappening, before: LockedImport) {
  switch (happening.event) {
    case 'confirm':
      return { confirmed_at: NOW, max_rejects: FIRST_MAX_REJECTS }
    case 'resume':
      return { failures: 0, retry_at: null, ...pausedAs(null) }
    case 'pause':
      return pausedAs(happening.pause)
    case 'stop':
      return pausedAgain(happening.pause, before)
    case 'exhaust':
      return happening.left === 'rows' ? { ...pausedAs(happening.pause), first_rows: null } : {}
    case 'purge':
      return { purged_at: NOW }
    default:
      return {}
  }
}

function pausedAs(pause: Pause | null) {
  return {
    pause_code: pause?.code ?? null,
    pause_request_id: pause?.requestId ?? null,
    pause_message: pause?.message ?? null,
    pause_what_to_do: pause?.whatToDo ?? null,
  }
}

/**
 * The pause of an import that may be paused already: the person who resumes it must know both reasons. The code is the earlier
 * one, unless that was a person's.
 */
function pausedAgain(pause: Pause, { status, pause_code, pause_message, pause_what_to_do }: LockedImport) {
  if (status !== 'paused') return pausedAs(pause)
  if (pause_code === pause.code) return {}
  const both = (one: string | null, other: string | null) =>
    other !== null && one?.includes(other) ? one : [one, other].filter(Boolean).join(' ')
  return pausedAs({
    code: pause_code ?? pause.code,
    requestId: pause.requestId,
    message: both(pause_message, pause.message),
    whatToDo: both(pause_what_to_do, pause.whatToDo),
  })
}

/** The statuses that raise an event. */
const TOLD: Partial<Record<ImportStatus, EventKind>> = {
  paused: 'import.paused',
  undecided: 'import.undecided',
  completed: 'import.completed',
}

/** A pause's event has its code, not the platform's words: these might name somebody. */
async function tellOfMove(
  client: PoolClient,
  { id, account, page_id, status }: LockedImport,
  to: ImportStatus,
  pause: Pause | null,
): Promise<void> {
  const [over, begun] = [TOLD[status], TOLD[to]]
  const about = { account, subject: `${id}` }
  if (over) await resolveEvent(client, { kind: over, ...about })
  if (!begun) return
  const why = pause && { code: pause.code, requestId: pause.requestId }
  await raiseEvent(client, { kind: begun, ...about }, { import: `${id}`, page: `${page_id}`, ...why })
}
