import type { Pool } from 'pg'
import { drizzleOf } from './drizzle.ts'
import { beginToKnow } from './known-database.ts'
import { installation } from './schema.ts'

export type Installation = { readonly id: string; readonly createdAt: Date }

/**
 * Returns the identity of this database. It is created at the first use and never changes. The names of queues contain
 * it, so that two databases can share one Redis.
 */
export async function loadInstallation(pool: Pool): Promise<Installation> {
  await drizzleOf(pool).insert(installation).values({}).onConflictDoNothing()
  await beginToKnow(pool)
  const found = await findInstallation(pool)
  if (!found) throw new Error('the installation has no id')
  return found
}

/** Returns the identity of this database, or null before its first use. Writes nothing. */
export async function findInstallation(pool: Pool): Promise<Installation | null> {
  const { id, created_at: createdAt } = installation
  const [found] = await drizzleOf(pool).select({ id, createdAt }).from(installation)
  return found ?? null
}
