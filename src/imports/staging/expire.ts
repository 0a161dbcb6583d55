import type { SQL } from 'drizzle-orm'
import type { Pool } from 'pg'
import { and, drizzleOf, eq, inArray, sql } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import type { OldRows } from '#src/db/prune.ts'
import { importLeftOut, importRecipients, importRejects, imports } from '#src/imports/schema.ts'
import { FIRST_STATUS } from '#src/model/import-moves.ts'

/** How long a staged import waits to be confirmed. */
export const STAGED_FOR_MS = 24 * 3_600_000

const IS_STAGED = eq(imports.status, FIRST_STATUS)

/** Removes a staged import that will not be confirmed, with all its rows. Any other import is left as it is: false. */
export async function discardStaging(pool: Pool, id: bigint): Promise<boolean> {
  return (await deleteStagings(pool, eq(imports.id, id))) > 0
}

/** Returns the imports that were staged and not confirmed within 24 hours. They are removed with all their rows. */
export function oldStagings(pool: Pool): OldRows {
  const stagedAt = sql`least(${imports.created_at}, ${imports.staged_at})`
  const isOld = sql`${stagedAt} < clock_timestamp() - ${STAGED_FOR_MS} * interval '1 ms'`
  return {
    table: 'ferry.imports',
    keepMs: STAGED_FOR_MS,
    count: () => drizzleOf(pool).$count(imports, and(IS_STAGED, isOld)),
    remove: () => deleteStagings(pool, isOld),
  }
}

function deleteStagings(pool: Pool, which: SQL): Promise<number> {
  return inTransaction(pool, async client => {
    const db = drizzleOf(client)
    // It waits for a confirmation under way, and leaves that import alone: it is not staging any more.
    const gone = await db.delete(imports).where(and(IS_STAGED, which)).returning({ id: imports.id })
    const ids = gone.map(({ id }) => id)
    for (const table of [importRecipients, importRejects, importLeftOut]) {
      await db.delete(table).where(inArray(table.import_id, ids))
    }
    return ids.length
  })
}
