import type { Pool } from 'pg'

export type Installation = { readonly id: string; readonly createdAt: Date }

/** Who this database is: made at its first use, never changed. Two installations may share one Redis. */
export async function loadInstallation(pool: Pool): Promise<Installation> {
  await pool.query('insert into ferry.installation default values on conflict do nothing')
  const { rows } = await pool.query<{ id: string; created_at: Date }>(
    'select id, created_at from ferry.installation',
  )
  const [row] = rows
  if (!row) throw new Error('the installation has no id')
  return { id: row.id, createdAt: row.created_at }
}
