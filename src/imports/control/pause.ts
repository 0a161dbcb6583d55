import type { Pool } from 'pg'
import { drizzleOf, eq } from '#src/db/drizzle.ts'
import { tellOfStatus } from '#src/imports/events.ts'
import { imports } from '#src/imports/schema.ts'
import { pausedAs } from '#src/imports/sending/import-state.ts'
import { PAUSED_BY_PERSON } from '#src/imports/sending/pause.ts'
import type { ActedBy } from '#src/model/act.ts'
import { type ImportStatus, isActive } from '#src/model/import.ts'
import { decideUnderLock, recordDecision, refusal } from './decision.ts'

/** Stops an import after the calls in flight. */
export function pauseImport(pool: Pool, id: bigint, by: ActedBy): Promise<ImportStatus> {
  return decideUnderLock<ImportStatus>(pool, id, async (client, state) => {
    const { status } = state
    if (!isActive(status)) throw refusal(id, status, 'only a queued or running import can be paused')
    await drizzleOf(client).update(imports).set(pausedAs(PAUSED_BY_PERSON)).where(eq(imports.id, id))
    await recordDecision(client, id, state, 'pause', by)
    await tellOfStatus(client, id)
    return 'paused'
  })
}
