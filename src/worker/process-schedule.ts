import type { Job, JobContext, JobOutcome, JobSignals } from '#jobs/job.ts'
import { reasonOf } from '#src/model/reason.ts'
import { KEY_REFUSALS } from '#src/model/run.ts'
import { isTransient } from '#src/model/transient-error.ts'
import type { Processed } from '#src/queue/consumer.ts'
import type { ScheduleWakeUp } from '#src/queue/messages.ts'
import type { Schedule, ScheduleKey } from '#src/schedules/definition.ts'
import type { Due, DueFinder } from '#src/schedules/find-due.ts'
import { decideSlotEnd, takeSlot } from '#src/schedules/slot-lease.ts'
import type { Capacity } from './capacity.ts'

export type ScheduleProcessor = {
  readonly context: JobContext
  readonly jobs: readonly Job[]
  readonly schedules: readonly Schedule[]
  readonly dueFinder: Pick<DueFinder, 'find'>
  readonly capacity: Capacity
  /** Called with the outcome of each slot that was done here. */
  readonly onEnd: (slot: ScheduleKey & Due, outcome: JobOutcome) => void
}

/**
 * Does what is due of the schedule that a wake-up names, unless another worker does it or the account has
 * reached its maximum of jobs here; the reconciler looks at it again then.
 *
 *     wake-up ──► due ──► slot lease ──► job ──► the end of the slot (`decideSlotEnd`)
 *
 * A fault of the job itself is logged and counts as failed. Throws only if Postgres cannot be reached: then the lease
 * expires by itself and the slot is free.
 */
export async function processSchedule(
  processor: ScheduleProcessor,
  { job: name, account }: ScheduleWakeUp,
  signals: JobSignals,
): Promise<Processed> {
  const { context, jobs, schedules, dueFinder, capacity } = processor
  const job = jobs.find(candidate => candidate.name === name)
  const schedule = schedules.find(one => one.schedule === name && one.account === account)
  if (!job || !schedule) {
    // Enqueued by a worker with other settings, or before these were changed.
    context.log.debug({ job: name, account }, 'A wake-up for a schedule unknown here was ignored.')
    return 'done'
  }
  const free = capacity.take(account)
  if (!free) return 'done'
  try {
    const due = (await dueFinder.find([schedule])).due[0]?.slot
    return due ? await doSlot(processor, job, schedule, due, signals) : 'done'
  } finally {
    free()
  }
}

async function doSlot(
  { context, onEnd }: ScheduleProcessor,
  job: Job,
  schedule: Schedule,
  due: Due,
  signals: JobSignals,
): Promise<Processed> {
  const { account } = schedule
  const log = context.log.child({ schedule: schedule.schedule, account, slot: due.slot })
  const evenIfPaused = due.trigger === 'manual'
  const lease = await takeSlot({ ...context, log }, schedule, due.slot, { evenIfPaused })
  if (!lease) return 'done'

  const cutOff = AbortSignal.any([signals.cutOff, lease.signal])
  const outcome = await runJob({ ...context, log }, job, account, due, { ...signals, cutOff })
  onEnd({ schedule: schedule.schedule, account, ...due }, outcome)
  const isRefused = outcome.runs?.some(({ errorCode }) => KEY_REFUSALS.has(errorCode)) ?? false
  const end = decideSlotEnd(schedule, lease.attempts, { ...outcome, isRefused }, cutOff.aborted)
  await lease.end(end)
  return end.to === 'give back' ? 'given back' : 'done'
}

async function runJob(
  context: JobContext,
  job: Job,
  account: string,
  { slot, trigger }: Due,
  signals: JobSignals,
): Promise<JobOutcome> {
  try {
    const payload = { account, trigger, ...(trigger !== 'manual' && { slot }) }
    return await job.run(context, payload, signals)
  } catch (error) {
    if (!signals.cutOff.aborted)
      // That Postgres does not answer is logged once, by its pool.
      context.log[isTransient(error) ? 'debug' : 'error'](
        { error: reasonOf(error), stack: error instanceof Error ? error.stack : undefined },
        'The job failed.',
      )
    return { status: 'failed' }
  }
}
