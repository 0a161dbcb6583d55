import type { SQL } from 'drizzle-orm'
import type { Pool } from 'pg'
import { and, drizzleOf, eq, inArray, sql } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import { importLeftOut, importRecipients, importRejects, imports } from '#src/imports/schema.ts'

/** How long a staged import waits to be confirmed. */
const STAGED_FOR = '24 hours'

/** Removes a staged import that will not be confirmed, with all its rows. Any other import is left as it is. */
export async function discardStaging(pool: Pool, id: bigint): Promise<void> {
  await deleteStagings(pool, eq(imports.id, id))
}

/** Removes the imports that were staged and not confirmed within 24 hours. Returns how many. */
export function expireStagings(pool: Pool): Promise<number> {
  const stagedAt = sql`least(${imports.created_at}, ${imports.staged_at})`
  return deleteStagings(pool, sql`${stagedAt} < clock_timestamp() - ${STAGED_FOR}::interval`)
}

function deleteStagings(pool: Pool, which: SQL): Promise<number> {
  return inTransaction(pool, async client => {
    const db = drizzleOf(client)
    // It waits for a confirmation under way, and leaves that import alone: it is not staging any more.
    const gone = await db
      .delete(imports)
      .where(and(eq(imports.status, 'staging'), which))
      .returning({ id: imports.id })
    const ids = gone.map(({ id }) => id)
    for (const table of [importRecipients, importRejects, importLeftOut]) {
      await db.delete(table).where(inArray(table.import_id, ids))
    }
    return ids.length
  })
}
