import type { Pool } from 'pg'

export type Installation = { readonly id: string; readonly createdAt: Date }

/**
 * Returns the identity of this database. It is created at the first use and never changes. The names of queues contain
 * it, so that two databases can share one Redis.
 */
export async function loadInstallation(pool: Pool): Promise<Installation> {
  await pool.query('insert into ferry.installation default values on conflict do nothing')
  const installation = await findInstallation(pool)
  if (!installation) throw new Error('the installation has no id')
  return installation
}

/** Returns the identity of this database, or null before its first use. Writes nothing. */
export async function findInstallation(pool: Pool): Promise<Installation | null> {
  const { rows } = await pool.query<{ id: string; created_at: Date }>(
    'select id, created_at from ferry.installation',
  )
  const [row] = rows
  return row ? { id: row.id, createdAt: row.created_at } : null
}
