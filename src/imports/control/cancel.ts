import type { Pool } from 'pg'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { tellOfStatus } from '#src/imports/events.ts'
import { imports } from '#src/imports/schema.ts'
import type { ActedBy } from '#src/model/act.ts'
import { type ImportStatus, isEnded } from '#src/model/import.ts'
import { decideUnderLock, recordDecision, refusal } from './decision.ts'

/** Ends an import. Calls in flight still end and are counted; rows that were not sent stay pending. */
export function cancelImport(pool: Pool, id: bigint, by: ActedBy): Promise<ImportStatus> {
  return decideUnderLock<ImportStatus>(pool, id, async (client, state) => {
    const { status } = state
    if (isEnded(status)) throw refusal(id, status, 'it has ended already')
    await drizzleOf(client)
      .update(imports)
      .set({ status: 'cancelled', finished_at: sql`clock_timestamp()` })
      .where(eq(imports.id, id))
    await recordDecision(client, id, state, 'cancel', by)
    await tellOfStatus(client, id)
    return 'cancelled'
  })
}
