import type { ImportWakeUp, ScheduleWakeUp } from '#src/queue/messages.ts'
import type { Producer } from '#src/queue/producer.ts'

/*
 * Several workers find the same schedule due, or the same import waiting, at about the same time: one wake-up is enough
 * then. A wake-up's id is its subject and the current time step. So duplicates within one step are dropped, and in the next
 * step it can be enqueued again: a job of a dead worker may block its id for a minute.
 */

const SCHEDULE_STEP_MS = 3_000
const IMPORT_STEP_MS = 1_000

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
  return queue.add('import-subscribers', { import: `${importId}` }, `import/${importId}/${step}`)
}
