import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { fenceWithLease, type Lease } from '#src/db/leases.ts'
import { inTransaction } from '#src/db/pool.ts'
import { findValue, onlyRow } from '#src/db/rows.ts'
import { lockForMove, moveImport, type Pause } from '#src/imports/move-import.ts'
import { isSamePage } from '#src/imports/page.ts'
import { imports } from '#src/imports/schema.ts'
import { MAY_BE_SENT } from '#src/imports/sent-elsewhere.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { moveOf } from '#src/model/import-moves.ts'
import { type Exclusion, findHeldElsewhere, leaveOutSent, markMaybeSent } from './exclusion.ts'
import { lockImport, type SendState, stopImport } from './import-state.ts'
import { readAcrossImports } from './pages.ts'
import { reclaimExpiredOfPage } from './reclaim.ts'
import { forgetBlame } from './suspects.ts'

/** An import when the work on it begins. */
export type Started = SendState & { readonly status: ImportStatus }

/**
 * Starts or continues the work on an import: leaves out the recipients that other imports have sent to this page, and
 * marks the import as running if it was queued. If others may have sent some of its rows, these count as resent, or the
 * import is paused. Suspects and rows set aside before a pause are sent again.
 *
 * Returns null if a call of another import of the page, whose worker was lost, may still be in flight, or once `signal`
 * aborts. Throws `LeaseLost`. The lease is checked last: its row is locked from then on, and could not be renewed.
 */
export async function startImport(
  pool: Pool,
  importId: bigint,
  lease: Lease,
  signal: AbortSignal,
): Promise<Started | null> {
  await reclaimExpiredOfPage(pool, importId)
  while (!signal.aborted) {
    const exclusion = await beginExclusion(pool, importId, lease, signal)
    if (!exclusion) return null
    const started = await endExclusion(pool, exclusion, await excludeAlreadySent(pool, exclusion))
    if (started) return started
  }
  return null
}

/** Returns null if a call of another import of the page may still be in flight. */
function beginExclusion(
  pool: Pool,
  importId: bigint,
  lease: Lease,
  signal: AbortSignal,
): Promise<Exclusion | null> {
  return inTransaction(pool, async client => {
    await lockImport(client, importId)
    if (await isAnotherInFlight(client, importId)) return null
    const rows = await drizzleOf(client)
      .update(imports)
      .set({ excluding_to_call: sql`(select coalesce(max(c.id), 0) from ferry.platform_calls c)` })
      .where(eq(imports.id, importId))
      .returning({
        toCall: sql<bigint>`${imports.excluding_to_call}`.mapWith(BigInt),
        isUpdate: imports.update_existing,
        rows: imports.recipients,
      })
    await fenceWithLease(client, lease)
    return { importId, lease, signal, ...onlyRow(rows, 'beginning an exclusion') }
  })
}

/** Whether a call of another import of the page may still be in flight. */
function isAnotherInFlight(client: PoolClient, importId: bigint): Promise<boolean> {
  return findValue(
    client,
    z.boolean(),
    `select exists (
       select from ferry.imports i
       join ferry.imports o on ${isSamePage('i', 'o')} and o.id <> i.id
       join ferry.import_batches b on b.import_id = o.id and b.state = 'in flight'
       where i.id = $1)`,
    [importId],
  )
}

/** Returns null if the exclusion is to be done again. */
function endExclusion(
  pool: Pool,
  { importId, toCall, lease }: Exclusion,
  { isWhole, held }: ExclusionResult,
): Promise<Started | null> {
  return inTransaction(pool, async client => {
    const found = await lockForMove(client, importId)
    let status = found.status
    if ('refused' in moveOf('start', found)) await saveExclusion(client, importId, found.excluded_to_call)
    else if (!isWhole || found.excluding_to_call !== toCall) return null
    else {
      if (status === 'queued') await forgetBlame(client, importId)
      status = (await moveImport(client, found, { event: 'start' })).status
      await saveExclusion(client, importId, held ? null : toCall)
      if (held) status = await stopImport(client, importId, held)
    }
    await fenceWithLease(client, lease)
    return { status, accepted: found.accepted, failures: found.failures }
  })
}

/** Recipients sent up to call `excludedTo` have been left out: the next pass looks only at later calls. */
async function saveExclusion(client: PoolClient, importId: bigint, excludedTo: bigint | null): Promise<void> {
  await drizzleOf(client)
    .update(imports)
    .set({ excluded_to_call: excludedTo, excluding_to_call: null })
    .where(eq(imports.id, importId))
}

/*
 * An import that starts or continues looks for what other imports have sent to its page: it leaves out the recipients they
 * have sent, and counts as resent those they may have sent.
 *
 *     begin ──► find rows (no lock) ──► change a page of rows (import locked) ──► ... ──► end
 *
 * It may take long after imports of millions, and a person who pauses, cancels or looks at the import must not wait for it.
 *
 * The next pass looks only at what was sent after this one. The order is that of the ids of calls, which only grow; a clock
 * may be set back. No worker sends to the page meanwhile: its lease is held, and no call of another import was
 * in flight when it began. So every call made before has its outcome and an id up to `excluding_to_call`, and every later
 * one has a higher id; a batch without a known call is always looked at. Whatever changes the outcome of an older call (a
 * person's decision, an answer that came late) sets `excluding_to_call` and `excluded_to_call` of the page's other imports to
 * null: then everything is looked at again.
 */

export type ExclusionResult = {
  /** False if it was stopped: by the signal, by a pause or cancellation, or by a decision about another import. */
  readonly isWhole: boolean
  /** Why the import is to be paused instead of being sent. */
  readonly held: Pause | null
}

/**
 * Whether other imports have sent anything to the page since the last pass, or may have. If not, there is nothing to find, and
 * the rows of the import, which may be millions, need not be read.
 */
async function isAnySentSince(pool: Pool, { importId }: Exclusion): Promise<boolean> {
  const found = await readAcrossImports(
    pool,
    z.unknown(),
    `select from ferry.imports i
     join ferry.imports o on ${isSamePage('i', 'o')} and o.id <> i.id
     cross join lateral (
       select b.* from ferry.import_batches b
       where b.import_id = o.id and (b.state = 'sent' or ${MAY_BE_SENT} or b.resends > 0)
         and (b.call_id <= i.excluded_to_call) is not true limit 1) b
     where i.id = $1 limit 1`,
    [importId],
  )
  return found.length > 0
}

/**
 * Leaves out the recipients that others have sent and counts as resent those they may have sent, or finds why the import
 * is to be paused. With `--update` the uncertain ones come first: settings that may have arrived decide whether others
 * are the latest.
 */
export async function excludeAlreadySent(pool: Pool, exclusion: Exclusion): Promise<ExclusionResult> {
  if (!(await isAnySentSince(pool, exclusion))) return { isWhole: true, held: null }
  if (!exclusion.isUpdate && !(await leaveOutSent(pool, exclusion))) return STOPPED
  const held = await findHeldElsewhere(pool, exclusion)
  if (held) return { isWhole: true, held }
  if (!(await markMaybeSent(pool, exclusion))) return STOPPED
  if (exclusion.isUpdate && !(await leaveOutSent(pool, exclusion))) return STOPPED
  return { isWhole: true, held: null }
}

const STOPPED: ExclusionResult = { isWhole: false, held: null }
