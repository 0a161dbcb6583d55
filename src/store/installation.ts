import type { Pool } from 'pg'

export type Installation = { readonly id: string; readonly createdAt: Date }

/** Who this database is: made at its first use, never changed. Two installations may share one Redis. */
export async function loadInstallation(pool: Pool): Promise<Installation> {
  await pool.query('insert into ferry.installation default values on conflict do nothing')
  const installation = await findInstallation(pool)
  if (!installation) throw new Error('the installation has no id')
  return installation
}

/** The same, or null before the first use; changes nothing. */
export async function findInstallation(pool: Pool): Promise<Installation | null> {
  const { rows } = await pool.query<{ id: string; created_at: Date }>(
    'select id, created_at from ferry.installation',
  )
  const [row] = rows
  return row ? { id: row.id, createdAt: row.created_at } : null
}
