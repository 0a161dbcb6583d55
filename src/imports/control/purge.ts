import type { Pool, PoolClient } from 'pg'
import { and, drizzleOf, eq, isNotNull, or, sql } from '#src/db/drizzle.ts'
import { countOf } from '#src/db/rows.ts'
import { platformCalls } from '#src/db/schema.ts'
import { importLeftOut, importRecipients, importRejects, imports } from '#src/imports/schema.ts'
import type { ActedBy } from '#src/model/act.ts'
import { isEnded } from '#src/model/import.ts'
import { decideUnderLock, recordDecision, refusal } from './decision.ts'

/** In SQL, whether a row of the call log is the call of a batch: it belongs to the record of that batch, and stays with it. */
export const IS_CALL_OF_BATCH = isNotNull(platformCalls.batch_id)

/**
 * Removes the recipients of an import that has ended. Returns of how many rows; 0 if it was purged before. Their hashes
 * stay: by these a later import knows who was sent. `by` is null if nobody asked for it, and its time has come.
 */
export function purgeImport(pool: Pool, id: bigint, by: ActedBy | null): Promise<number> {
  return decideUnderLock(pool, id, async (client, state) => {
    const { status, purged_at } = state
    if (!isEnded(status)) throw refusal(id, status, 'its recipients are still needed')
    if (purged_at !== null) return 0
    if (by) await recordDecision(client, id, state, 'purge', by)
    return purgeRows(client, id)
  })
}

/** Addresses and lines of the file stand in these columns only; numbers, times, request_ids and platform messages stay. */
async function purgeRows(client: PoolClient, id: bigint): Promise<number> {
  const db = drizzleOf(client)
  const recipients = await db
    .update(importRecipients)
    .set({ recipient: null, raw: null })
    .where(
      and(
        eq(importRecipients.import_id, id),
        or(isNotNull(importRecipients.recipient), isNotNull(importRecipients.raw)),
      ),
    )
  const rejects = await db
    .update(importRejects)
    .set({ raw: null })
    .where(and(eq(importRejects.import_id, id), isNotNull(importRejects.raw)))
  const leftOut = await db
    .update(importLeftOut)
    .set({ recipient: null })
    .where(and(eq(importLeftOut.import_id, id), isNotNull(importLeftOut.recipient)))
  await db.update(imports).set({ purged_at: sql`clock_timestamp()` }).where(eq(imports.id, id))
  return countOf(recipients) + countOf(rejects) + countOf(leftOut)
}
