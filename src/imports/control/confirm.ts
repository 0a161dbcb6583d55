import type { Pool } from 'pg'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { tellOfStatus } from '#src/imports/events.ts'
import { imports } from '#src/imports/schema.ts'
import { FIRST_MAX_REJECTS } from '#src/imports/sending/decide.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { decideUnderLock, recordDecision, refusal } from './decision.ts'

/** Lets workers send a staged import. Returns its new status: `completed` if it has no recipients, else `queued`. */
export function confirmImport(pool: Pool, id: bigint, by: ActedBy): Promise<ImportStatus> {
  return decideUnderLock(pool, id, async (client, state) => {
    const { status, staged_at, recipients } = state
    if (status !== 'staging') throw refusal(id, status, 'only a staged import can be confirmed')
    if (staged_at === null) {
      throw refusal(id, status, 'its file is still being read; wait until that is done, or import it again')
    }
    const next = recipients > 0 ? 'queued' : 'completed'
    const now = sql`clock_timestamp()`
    const end = next === 'completed' ? { started_at: now, finished_at: now } : {}
    await drizzleOf(client)
      .update(imports)
      .set({ status: next, confirmed_at: now, most_rejects: FIRST_MAX_REJECTS, ...end })
      .where(eq(imports.id, id))
    await recordDecision(client, id, state, 'confirm', by)
    await tellOfStatus(client, id)
    return next
  })
}
