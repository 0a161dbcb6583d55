import type { Pool, PoolClient } from 'pg'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { fenceWithLease, type Lease } from '#src/db/leases.ts'
import { inTransaction } from '#src/db/pool.ts'
import { onlyRow } from '#src/db/rows.ts'
import { imports } from '#src/imports/schema.ts'
import { type ImportStatus, isActive } from '#src/model/import.ts'
import { type ExclusionResult, excludeAlreadySent, isAnotherInFlight } from './exclude-already-sent.ts'
import type { Exclusion } from './exclusion.ts'
import { lockImport, pauseActive } from './import-state.ts'
import { reclaimExpiredOfPage } from './reclaim.ts'
import { forgetBlame } from './suspects.ts'

/** An import when the work on it begins. */
export type Started = {
  readonly status: ImportStatus
  readonly accepted: number
  readonly failures: number
}

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

/** Returns null if the exclusion is to be done again. */
function endExclusion(
  pool: Pool,
  { importId, toCall, lease }: Exclusion,
  { isWhole, held }: ExclusionResult,
): Promise<Started | null> {
  return inTransaction(pool, async client => {
    const found = await drizzleOf(client)
      .select({
        isValid: sql<boolean>`${imports.excluding_to_call} = ${toCall} is true`,
        status: imports.status,
      })
      .from(imports)
      .where(eq(imports.id, importId))
      .for('update')
    const { isValid, status } = onlyRow(found, 'ending an exclusion')
    if (!isActive(status)) await clearExclusion(client, importId)
    else if (!isWhole || !isValid) return null
    else {
      if (status === 'queued') await forgetBlame(client, importId)
      await setRunning(client, importId, held === null)
      if (held) await pauseActive(client, importId, held)
    }
    await fenceWithLease(client, lease)
    return readStarted(client, importId)
  })
}

async function clearExclusion(client: PoolClient, importId: bigint): Promise<void> {
  await drizzleOf(client).update(imports).set({ excluding_to_call: null }).where(eq(imports.id, importId))
}

/** `isExcluded`: who was already sent has been left out, so that the next look need only see what was sent since. */
async function setRunning(client: PoolClient, importId: bigint, isExcluded: boolean): Promise<void> {
  await drizzleOf(client)
    .update(imports)
    .set({
      started_at: sql`coalesce(${imports.started_at}, clock_timestamp())`,
      status: 'running',
      excluded_to_call: isExcluded ? sql`${imports.excluding_to_call}` : null,
      excluding_to_call: null,
    })
    .where(eq(imports.id, importId))
}

async function readStarted(client: PoolClient, importId: bigint): Promise<Started> {
  const { status, accepted, failures } = imports
  const rows = await drizzleOf(client)
    .select({ status, accepted, failures })
    .from(imports)
    .where(eq(imports.id, importId))
  return onlyRow(rows, 'starting an import')
}
