import type { Pool } from 'pg'
import { findByIndex } from '#src/db/planner.ts'
import { inTransaction } from '#src/db/pool.ts'
import { countOf, findColumn, Int8 } from '#src/db/rows.ts'
import { isSamePage } from '#src/imports/page.ts'
import { IS_CLAIM_EXPIRED } from '#src/imports/states.ts'
import { endClaim, findExpired } from './batch-in-flight.ts'
import { decideExpired } from './decide.ts'
import { lockImport } from './import-state.ts'
import { WORKER_LOST } from './pause.ts'

/**
 * Ends the expired claims of an import: their worker died, or could not reach Postgres. Returns how many. The row of the
 * import is locked before those of its batches, as everywhere; if another transaction has it, `ifBusy` says what to do.
 */
export function reclaimImport(
  pool: Pool,
  importId: bigint,
  ifBusy: 'wait' | 'pass over' = 'wait',
): Promise<number> {
  return inTransaction(pool, async client => {
    if (ifBusy === 'pass over' && countOf(await client.query(LOCK_IF_FREE, [importId])) === 0) return 0
    const { resend } = await lockImport(client, importId)
    await findByIndex(client)
    const expired = await findExpired(client, importId)
    await client.query(NOTE_UNANSWERED, [expired.map(({ id }) => id), WORKER_LOST.errorCode])
    for (const batch of expired) await endClaim(client, batch, decideExpired(batch, resend), WORKER_LOST)
    return expired.length
  })
}

/** Who looks for calls without an answer finds those that their workers were waiting for. */
const NOTE_UNANSWERED = `
  update ferry.platform_calls c set error_code = $2 from ferry.import_batches b
  where b.id = any ($1) and c.id = b.call_id and c.finished is null`

const LOCK_IF_FREE = 'select from ferry.imports where id = $1 for update skip locked'

/** Ends the expired claims of all imports of a page, this one included. */
export async function reclaimExpiredOfPage(pool: Pool, importId: bigint): Promise<void> {
  const expired = await findColumn(
    pool,
    Int8,
    `select distinct o.id from ferry.imports i
     join ferry.imports o on ${isSamePage('i', 'o')}
     join ferry.import_batches b on b.import_id = o.id and ${IS_CLAIM_EXPIRED}
     where i.id = $1`,
    [importId],
  )
  await reclaimImports(pool, expired, 'wait')
}

/** SQL that says whether any claim has expired. */
export const ANY_EXPIRED_IN_SQL = `exists (select from ferry.import_batches b where ${IS_CLAIM_EXPIRED})`

/**
 * Ends the expired claims of all imports, whatever their status; returns how many. An import that another transaction has, such as a
 * purge, keeps nobody from the others: it is left to the next time.
 */
export async function reclaimExpired(pool: Pool): Promise<number> {
  const ofAll = `select distinct b.import_id from ferry.import_batches b where ${IS_CLAIM_EXPIRED}`
  return reclaimImports(pool, await findColumn(pool, Int8, ofAll), 'pass over')
}

/** One after another: a transaction that locked several imports could wait for one that locks them in another order. */
async function reclaimImports(
  pool: Pool,
  imports: readonly bigint[],
  ifBusy: 'wait' | 'pass over',
): Promise<number> {
  let reclaimed = 0
  for (const id of imports) reclaimed += await reclaimImport(pool, id, ifBusy)
  return reclaimed
}
