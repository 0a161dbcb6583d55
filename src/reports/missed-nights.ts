import type { Pool } from 'pg'

export type MissedNight = { readonly account: string; readonly night: string }

/** The nights of the last 30 days without a snapshot, the newest first: at most `limit`. `night` is a date. */
export async function loadMissedNights(pool: Pool, limit: number): Promise<MissedNight[]> {
  const { rows } = await pool.query<MissedNight>(
    `select account, night::text from ferry.nights() where status = 'missed' order by night desc, account limit $1`,
    [limit],
  )
  return rows
}
