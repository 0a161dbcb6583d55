import type { Pool } from 'pg'
import { onlyRow } from '#src/db/rows.ts'
import { isSamePage } from '#src/imports/page.ts'
import { IS_CLAIM_EXPIRED } from '#src/imports/uncertain.ts'
import { WORKER_LOST } from './pause.ts'

/**
 * Ends the expired claims of all imports of a page, this one included. One import after another: a transaction that
 * locked several could wait for one that locks them in another order.
 */
export async function reclaimExpiredOfPage(pool: Pool, importId: bigint): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `select distinct o.id from ferry.imports i
     join ferry.imports o on ${isSamePage('i', 'o')}
     join ferry.import_batches b on b.import_id = o.id and ${IS_CLAIM_EXPIRED}
     where i.id = $1`,
    [importId],
  )
  for (const { id } of rows) {
    await pool.query('select ferry.reclaim_expired($1, $2, $3)', [id, WORKER_LOST.code, WORKER_LOST.message])
  }
}

/** Ends the expired claims of all imports, whatever their status; returns how many. */
export async function reclaimExpired(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ reclaimed: number }>(
    `select coalesce(sum(ferry.reclaim_expired(e.import_id, $1, $2)), 0)::int as reclaimed
     from (select distinct b.import_id from ferry.import_batches b
           where ${IS_CLAIM_EXPIRED} order by b.import_id) e`,
    [WORKER_LOST.code, WORKER_LOST.message],
  )
  return onlyRow(rows, 'reclaiming expired claims').reclaimed
}
