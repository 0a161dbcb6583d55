import type { Pool } from 'pg'
import { drizzleOf, eq } from '#src/db/drizzle.ts'
import { tellOfStatus } from '#src/imports/events.ts'
import { imports } from '#src/imports/schema.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { decideUnderLock, recordDecision, refusal } from './decision.ts'

/** Queues a paused import again. Its failures, its back-off and the reason of its pause are forgotten. */
export function resumeImport(pool: Pool, id: bigint, by: ActedBy): Promise<ImportStatus> {
  return decideUnderLock<ImportStatus>(pool, id, async (client, state) => {
    const { status } = state
    if (status !== 'paused') throw refusal(id, status, 'only a paused import can be resumed')
    await drizzleOf(client)
      .update(imports)
      .set({
        status: 'queued',
        failures: 0,
        retry_at: null,
        pause_code: null,
        pause_request_id: null,
        pause_message: null,
        pause_what_to_do: null,
      })
      .where(eq(imports.id, id))
    await recordDecision(client, id, state, 'resume', by)
    await tellOfStatus(client, id)
    return 'queued'
  })
}
