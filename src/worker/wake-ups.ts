import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { ActedBy } from '#src/model/act.ts'
import type { QueueBackend } from '#src/queue/backend.ts'
import type { ImportWakeUp, ScheduleWakeUp } from '#src/queue/messages.ts'
import type { Producer } from '#src/queue/producer.ts'
import { requestRun } from '#src/schedules/control.ts'
import type { Schedule, ScheduleKey } from '#src/schedules/definition.ts'

/*
 * Several workers find the same schedule due, or the same import waiting, at about the same time: one wake-up is enough
 * then. A wake-up's id is its subject and the current time step. So duplicates within one step are dropped, and in the next
 * step it can be enqueued again: a job of a dead worker may block its id for a minute.
 */

const SCHEDULE_STEP_MS = 3_000
const IMPORT_STEP_MS = 1_000

/** The job that an import's wake-up asks for. */
export const IMPORT_JOB = 'import-subscribers'

/**
 * Has a worker look at a schedule; false if the queue did not take it. `now` is the database's clock, so that workers
 * whose own clocks differ agree on the id.
 */
export function enqueueSchedule(
  queue: Pick<Producer<ScheduleWakeUp>, 'add'>,
  { schedule, account }: { readonly schedule: string; readonly account: string },
  now: Date,
): Promise<boolean> {
  const step = Math.floor(now.getTime() / SCHEDULE_STEP_MS)
  return queue.add(schedule, { job: schedule, account }, `${schedule}/${account}/${step}`)
}

/** Has a worker look at an import; false if the queue did not take it. */
export function enqueueImport(
  queue: Pick<Producer<ImportWakeUp>, 'add'>,
  importId: bigint,
): Promise<boolean> {
  const step = Math.floor(Date.now() / IMPORT_STEP_MS)
  return queue.add(IMPORT_JOB, { import: `${importId}` }, `import/${importId}/${step}`)
}

/**
 * Has a worker run each matching schedule now, paused or not; returns which. It is recorded in Postgres first, so a worker
 * finds it even if the queue does not answer or loses the wake-up. Throws `UnknownSchedule`.
 */
export async function runSchedule(
  { pool, log }: { readonly pool: Pool; readonly log: Logger },
  backend: QueueBackend,
  schedules: readonly Schedule[],
  { name, account }: { readonly name: string; readonly account: string | undefined },
  by: ActedBy,
): Promise<ScheduleKey[]> {
  const requested = await requestRun(pool, schedules, name, account, by)
  const queue = backend.openQueue('sync')
  try {
    for (const { key, slot } of requested) {
      if (await enqueueSchedule(queue, key, slot)) continue
      log.warn(key, 'The queue does not answer; a worker finds the run by itself.')
    }
  } finally {
    await queue.close()
  }
  return requested.map(({ key }) => key)
}
