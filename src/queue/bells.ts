import type { ScheduleKey } from '#src/store/schedules.ts'
import type { Bell } from './job.ts'
import type { Producer } from './producer.ts'

/** Several workers find the same slot due at about the same time: one bell is enough then. */
const ONE_BELL_MS = 3_000

/**
 * Has a worker look at a schedule; false if the queue did not take it.
 *
 * A bell has an id of its own every few seconds: a dead worker's job may block its id for a minute. `now` is the
 * database's clock, so that workers whose own clocks differ agree on the id.
 */
export function ring(queue: Producer<Bell>, key: ScheduleKey, now: Date): Promise<boolean> {
  const { schedule, account } = key
  const moment = Math.floor(now.getTime() / ONE_BELL_MS)
  return queue.add(schedule, { job: schedule, account }, `${schedule}/${account}/${moment}`)
}
