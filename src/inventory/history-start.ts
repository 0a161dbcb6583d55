import type { Pool } from 'pg'
import { onlyRow } from '#src/db/rows.ts'

/** From when on the history is complete; null: from the beginning, since nothing of it was removed. */
export async function loadHistoryStart(pool: Pool): Promise<Date | null> {
  const { rows } = await pool.query<{ at: Date | null }>(
    `select nullif(ferry.history_start(), '-infinity') as at`,
  )
  return onlyRow(rows, 'the start of the history').at
}
