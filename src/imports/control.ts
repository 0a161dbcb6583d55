import type { Pool, PoolClient } from 'pg'
import type { ImportStatus } from '#src/model/import.ts'
import { inTransaction } from '#src/store/database.ts'
import * as store from '#src/store/imports/control.ts'
import { rejectRows } from '#src/store/imports/outcomes.ts'
import { purgeRows } from '#src/store/imports/purge.ts'
import { settleLostClaimsOfPage } from '#src/store/imports/waiting.ts'
import { ImportNotFound, ImportRefuses } from './errors.ts'

/*
 * What a person may do with an import. Each decision is one transaction under the lock of the import's row, which a
 * worker takes too before each batch: so it takes effect within one batch, whatever machine it is made on.
 *
 *     confirm   staging ─────────────────────► queued
 *     pause     queued, running ─────────────► paused
 *     resume    paused ──────────────────────► queued
 *     cancel    any that is not over ────────► cancelled
 *     resolve   undecided ───────────────────► queued, or completed if nothing is left
 *               any other but completed ─────► as it was
 *
 * Each throws `ImportNotFound`, or `ImportRefuses` if the import is in no state for it.
 */

/** A month: time to answer whoever asks what became of them, and no longer than a list of people should lie about. */
const KEEP_RECIPIENTS_DAYS = 30

const OVER: readonly ImportStatus[] = ['completed', 'cancelled']

/** Lets a staged import be worked on; returns its status then (`completed` if there is nobody to send to). */
export function confirmImport(pool: Pool, id: bigint): Promise<ImportStatus> {
  return decide<ImportStatus>(pool, id, async (client, state) => {
    if (state.status !== 'staging') throw refusal(id, state, 'only one that was staged can be confirmed')
    if (!state.staged)
      throw refusal(id, state, 'its file is still being read; wait for that, or import it again')
    await store.setConfirmed(client, id)
    return state.recipients > 0 ? 'queued' : 'completed'
  })
}

/** Stops an import after the calls in flight. */
export function pauseImport(pool: Pool, id: bigint): Promise<ImportStatus> {
  return decide<ImportStatus>(pool, id, async (client, state) => {
    if (state.status !== 'queued' && state.status !== 'running')
      throw refusal(id, state, 'only one that is queued or running can be paused')
    await store.setPaused(client, id, 'It was paused by a person.')
    return 'paused'
  })
}

/** Queues a paused import again, its failures forgotten. */
export function resumeImport(pool: Pool, id: bigint): Promise<ImportStatus> {
  return decide<ImportStatus>(pool, id, async (client, state) => {
    if (state.status !== 'paused') throw refusal(id, state, 'only one that is paused can be resumed')
    await store.setResumed(client, id)
    return 'queued'
  })
}

/** Ends an import for good. Calls in flight end by themselves; who was not sent stays pending. */
export function cancelImport(pool: Pool, id: bigint): Promise<ImportStatus> {
  return decide<ImportStatus>(pool, id, async (client, state) => {
    if (OVER.includes(state.status)) throw refusal(id, state, 'there is nothing left to cancel')
    await store.setStatus(client, id, 'cancelled')
    return 'cancelled'
  })
}

export type Resolved = { readonly batches: number; readonly rows: number; readonly status: ImportStatus }

/**
 * Records what a person found out about uncertain batches, one or all: they arrived, or they are to be sent again. What
 * is to be sent again of a cancelled import is sent by the next import of these people.
 */
export async function resolveUncertain(
  pool: Pool,
  id: bigint,
  as: 'sent' | 'resend',
  batchId: bigint | null,
): Promise<Resolved> {
  // By itself: what it changes is to be seen even if nothing can be decided then.
  await settleLostClaimsOfPage(pool, id)
  return inTransaction(pool, async client => {
    await store.openForDecision(client, id)
    const state = await store.lockImport(client, id)
    if (!state) throw new ImportNotFound(id)
    if (state.status === 'completed')
      throw refusal(id, state, 'nothing of it is uncertain; an import that was paused for it can be resumed')
    const decided = await store.decideBatches(client, id, as, batchId)
    if (decided.length === 0) {
      const which = batchId === null ? 'it has no uncertain batch' : `its batch ${batchId} is not uncertain`
      throw refusal(id, state, `${which}; \`ferry imports show ${id}\` shows its batches`)
    }
    const rejected = as === 'sent' ? decided.filter(batch => batch.setAside > 0) : []
    for (const batch of rejected) await rejectRows(client, id, { setAsideOf: batch.id })
    const rows = sum(decided.map(batch => batch.rows)) - sum(rejected.map(batch => batch.setAside))
    return { batches: decided.length, rows, status: await settle(client, id, state.status) }
  })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** An undecided import waits for nothing but decisions: after them it goes on, or is over. */
async function settle(client: PoolClient, id: bigint, status: ImportStatus): Promise<ImportStatus> {
  if (status !== 'undecided') return status
  const left = await store.loadLeft(client, id)
  if (!left.toSend && left.uncertain) return status
  const next = left.toSend ? 'queued' : 'completed'
  await store.setStatus(client, id, next)
  return next
}

/**
 * Removes the recipients of an import that is over, and returns of how many rows. Their hashes stay, by which a later
 * import knows who was sent. Purging again is allowed and finds nothing.
 */
export function purgeImport(pool: Pool, id: bigint): Promise<number> {
  return decide(pool, id, async (client, state) => {
    if (!OVER.includes(state.status))
      throw refusal(
        id,
        state,
        `its recipients are still needed; \`ferry imports cancel ${id}\` ends it for good`,
      )
    return state.purged ? 0 : purgeRows(client, id)
  })
}

/** Purges every import that ended a month ago; returns how many. */
export async function purgeOldImports(pool: Pool): Promise<number> {
  const ids = await store.listUnpurged(pool, KEEP_RECIPIENTS_DAYS)
  for (const id of ids) await purgeImport(pool, id)
  return ids.length
}

function decide<T>(
  pool: Pool,
  id: bigint,
  decision: (client: PoolClient, state: store.ImportState) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, async client => {
    const state = await store.lockImport(client, id)
    if (!state) throw new ImportNotFound(id)
    return decision(client, state)
  })
}

function refusal(id: bigint, { status }: store.ImportState, why: string): ImportRefuses {
  const next = WHAT_CAN_BE_DONE[status].replaceAll('ID', String(id))
  return new ImportRefuses(`import ${id} is ${status}: ${why}.${next}`)
}

const WHAT_CAN_BE_DONE: Readonly<Record<ImportStatus, string>> = {
  staging: ' It waits for a confirmation, or `ferry imports cancel ID`.',
  queued: ' `ferry imports pause ID` and `ferry imports cancel ID` are possible.',
  running: ' `ferry imports pause ID` and `ferry imports cancel ID` are possible.',
  paused: ' `ferry imports resume ID` goes on with it, `ferry imports cancel ID` ends it.',
  undecided:
    ' `ferry imports resolve ID --as sent|resend` decides about it, `ferry imports cancel ID` ends it.',
  completed: ' `ferry imports show ID` tells what came of it.',
  cancelled:
    ' Import the file again: who was sent already is left out; what is uncertain is decided first, by `ferry imports resolve ID --as sent|resend`.',
}
