import type { Pool } from 'pg'

/** The names of the accounts of which anything was ever recorded, whether they are still configured or not. */
export async function loadKnownAccounts(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ account: string }>(
    `select account from ferry.sync_runs union select account from ferry.snapshots
     union select account from ferry.imports order by account`,
  )
  return rows.map(row => row.account)
}
