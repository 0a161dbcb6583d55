import type { Pool } from 'pg'
import { inTransaction } from '../database.ts'

/** So long a staged import waits to be confirmed. */
const STAGED_FOR = '24 hours'

/** Removes an import that was staged and never confirmed, with all its rows; any other is left as it is. */
export async function deleteStaging(pool: Pool, id: bigint): Promise<void> {
  await deleteStagings(pool, 'id = $1', id)
}

/** Removes the imports whose time to be confirmed is over; returns how many. */
export function deleteOldStagings(pool: Pool): Promise<number> {
  return deleteStagings(pool, 'least(created_at, staged_at) < clock_timestamp() - $1::interval', STAGED_FOR)
}

function deleteStagings(pool: Pool, which: string, value: bigint | string): Promise<number> {
  return inTransaction(pool, async client => {
    // Whoever confirms it at this moment is waited for, and then it is no staging any more.
    const { rows } = await client.query<{ ids: string[] }>(
      `with gone as (
         delete from ferry.imports where status = 'staging' and ${which} returning id
       )
       select coalesce(array_agg(id), '{}')::text[] as ids from gone`,
      [value],
    )
    const ids = rows[0]?.ids ?? []
    for (const table of ['import_recipients', 'import_rejects', 'import_left_out']) {
      await client.query(`delete from ferry.${table} where import_id = any($1)`, [ids])
    }
    return ids.length
  })
}
