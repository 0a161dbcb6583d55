import type { Job as QueueJob } from 'bullmq'
import type { ScheduleKey } from '#src/store/schedules.ts'
import type { BellQueue } from './backend.ts'
import type { Bell, Timing } from './job.ts'

/** A bell that has been answered leaves nothing behind. */
const LEAVE_NOTHING = { removeOnComplete: true, removeOnFail: true }

/** Several workers find the same slot due at about the same time: one bell is enough then. */
const ONE_BELL_MS = 3_000

/** Every bell is a job with an id of its own: a dead worker's job may block its id for a minute. */
export async function ring(queue: BellQueue, bell: Bell): Promise<void> {
  await queue.add(bell.job, bell, {
    ...LEAVE_NOTHING,
    deduplication: { id: `${bell.job}/${bell.account}/${bell.slot}`, ttl: ONE_BELL_MS },
  })
}

/** A schedule with the timing its bells are rung by. */
export type TimedSchedule = ScheduleKey & { readonly timing: Timing }

/**
 * Makes the queue's schedulers those given: adds what is missing, changes what differs, removes what is gone.
 *
 * One that is right is left alone, because replacing it would drop its overdue bell. For the start of a worker: after
 * it, workers with other settings may be starting, and the two must not undo each other's changes for ever.
 */
export async function alignSchedulers(queue: BellQueue, schedules: readonly TimedSchedule[]): Promise<void> {
  for (const schedule of schedules) {
    const there = await queue.getJobScheduler(idOf(schedule))
    if (!there || !agrees(there, schedule.timing)) await putScheduler(queue, schedule)
  }
  const wanted = new Set(schedules.map(idOf))
  for (const { key } of await queue.getJobSchedulers()) {
    if (!wanted.has(key)) await queue.removeJobScheduler(key)
  }
}

/** Puts back the schedulers the queue has forgotten; returns how many. Asks for a mere count unless that is wrong. */
export async function restoreSchedulers(
  queue: BellQueue,
  schedules: readonly TimedSchedule[],
): Promise<number> {
  if ((await queue.getJobSchedulersCount()) === schedules.length) return 0
  let restored = 0
  for (const schedule of schedules) {
    if (await queue.getJobScheduler(idOf(schedule))) continue
    await putScheduler(queue, schedule)
    restored += 1
  }
  return restored
}

/** When the queue was to deliver this job: a scheduler's jobs have the time in their id. */
export function rungAt(job: Pick<QueueJob, 'id' | 'timestamp'>): Date {
  const [, time] = /^repeat:.*:(\d+)$/.exec(job.id ?? '') ?? []
  return new Date(time ? Number(time) : job.timestamp)
}

async function putScheduler(queue: BellQueue, { schedule, account, timing }: TimedSchedule): Promise<void> {
  await queue.upsertJobScheduler(idOf({ schedule, account }), repeatOf(timing), {
    name: schedule,
    data: { job: schedule, account, slot: null, trigger: 'schedule' },
    opts: LEAVE_NOTHING,
  })
}

/** With an offset, `every` counts from 1970, as slots do; without, it would count from the moment it was put there. */
function repeatOf(timing: Timing) {
  return 'everyMs' in timing
    ? { every: timing.everyMs, offset: 1 }
    : { pattern: timing.cron, tz: timing.timezone }
}

function agrees(there: { every?: number; pattern?: string; tz?: string }, timing: Timing): boolean {
  return 'everyMs' in timing
    ? there.every === timing.everyMs
    : there.pattern === timing.cron && there.tz === timing.timezone
}

function idOf({ schedule, account }: ScheduleKey): string {
  return `${schedule}/${account}`
}
