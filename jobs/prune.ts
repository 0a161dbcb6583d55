import type { Pool } from 'pg'
import { z } from 'zod'
import { recordActs } from '#src/db/audit.ts'
import { inTransaction } from '#src/db/pool.ts'
import { type OldRows, oldCalls, oldEvents, oldLeases, oldWorkers } from '#src/db/prune.ts'
import { IS_CALL_OF_BATCH, oldRecipients } from '#src/imports/control/purge.ts'
import { oldStagings } from '#src/imports/staging/expire.ts'
import { oldHistory, oldQuarantinedRows, oldRuns } from '#src/inventory/old-rows.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { Retention } from '#src/model/settings.ts'
import { EVERY_ACCOUNT } from '#src/schedules/definition.ts'
import { oldSlots } from '#src/schedules/free-slot.ts'
import { defineJob } from './job.ts'

type PruneContext = { readonly pool: Pool; readonly retention: Retention }

/** Rows of one table, and how many of them are old, or were removed. */
export type OldCount = Pick<OldRows, 'table' | 'keepMs'> & { readonly rows: number }

/** Removes what nobody needs any more. */
export const prune = defineJob({
  name: 'prune',
  payload: z.object({}),
  async run(context, _, { signal }) {
    const removed = await removeOldRows(context, null, signal)
    context.log.info(
      Object.fromEntries(removed.map(({ table, rows }) => [table, rows])),
      'Old rows were removed.',
    )
    return { status: signal.aborted ? 'stopped' : 'succeeded' }
  },
})

/** Everything that nobody will ask for any more, table by table. */
function oldRows({ pool, retention }: PruneContext): readonly OldRows[] {
  return [
    oldCalls(pool, retention.callsMs, IS_CALL_OF_BATCH),
    oldRuns(pool, retention.runsMs),
    oldQuarantinedRows(pool, retention.quarantineMs),
    ...oldHistory(pool, retention.versionsMs),
    oldRecipients(pool, retention.recipientsMs),
    oldEvents(pool, retention.notificationsMs),
    oldStagings(pool),
    oldSlots(pool),
    oldLeases(pool),
    oldWorkers(pool),
  ]
}

/** Counts what `removeOldRows` would remove. */
export async function countOldRows(context: PruneContext): Promise<OldCount[]> {
  const counts: OldCount[] = []
  for (const { table, keepMs, count } of oldRows(context)) counts.push({ table, keepMs, rows: await count() })
  return counts
}

/**
 * Removes old rows, in small transactions. Stops between two of them if `signal` aborts. `by` asked for it; null: nobody. Where it
 * fails, the other tables come first: addresses must not outlive their time because another table is locked. Then it throws.
 */
export async function removeOldRows(
  context: PruneContext,
  by: ActedBy | null,
  signal: AbortSignal,
): Promise<OldCount[]> {
  const act = { account: EVERY_ACCOUNT, action: 'run', subjectKind: 'schedule', subject: 'prune' } as const
  if (by) await inTransaction(context.pool, client => recordActs(client, by, [act]))
  const counts: OldCount[] = []
  const errors: unknown[] = []
  for (const { table, keepMs, remove } of oldRows(context)) {
    if (signal.aborted) break
    await remove(signal).then(
      rows => counts.push({ table, keepMs, rows }),
      error => errors.push(error),
    )
  }
  if (errors.length > 0) throw errors[0]
  return counts
}
