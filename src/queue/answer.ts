import { reasonOf } from '#src/model/reason.ts'
import type { RunStatus } from '#src/model/run.ts'
import { type Hold, takeSlot } from '#src/store/slots.ts'
import type { Bell, JobContext, QueuedJob } from './job.ts'
import { type Due, slotOfBell } from './plan.ts'
import { schedulesOf } from './schedules.ts'

/** What became of a bell. `given back`: the work was stopped, and is to be done by somebody else, at once. */
export type Answer = 'nothing to do' | 'done' | 'later' | 'given back'

/** Outcomes that stand even if the run was told to stop meanwhile: its work is in Postgres. */
const WORTH_KEEPING: ReadonlySet<RunStatus> = new Set(['succeeded', 'partial', 'held'])

/**
 * Does what a bell is about, if it is still to be done and nobody is at it.
 *
 *     bell ──► slot ──► hold ──► run ──┬─ succeeded, partial, held ──► done
 *                                      ├─ failed, tries left ────────► again after a pause
 *                                      ├─ failed, no tries left ─────► done (failed)
 *                                      ├─ skipped ───────────────────► done, or again after a pause
 *                                      └─ stopped ───────────────────► free at once, the attempt not counted
 *
 * A fault of the job itself is logged and counts as failed. Throws only if Postgres cannot be reached: then the hold runs
 * out by itself and the slot is free.
 */
export async function answerBell(
  ferry: JobContext,
  jobs: readonly QueuedJob[],
  bell: Bell,
  rungFor: Date,
  stop: AbortSignal,
): Promise<Answer> {
  const job = jobs.find(candidate => candidate.name === bell.job)
  if (!job || !schedulesOf(ferry, [job]).some(schedule => schedule.account === bell.account)) {
    // Rung by a worker with other settings, or before these were changed.
    ferry.log.debug({ bell }, 'a bell for a schedule unknown here was ignored')
    return 'nothing to do'
  }
  const due = dueOf(ferry, job, bell, rungFor)
  if (!due) return 'nothing to do'
  const key = { schedule: job.name, account: bell.account }
  const log = ferry.log.child({ ...key, slot: due.slot })
  const hold = await takeSlot(ferry.pool, key, due.slot, { evenIfPaused: due.trigger === 'manual', log })
  if (!hold) return 'nothing to do'

  const signal = AbortSignal.any([stop, hold.signal])
  const status = await runJob({ ...ferry, log }, job, bell.account, due, signal)
  if (signal.aborted && !WORTH_KEEPING.has(status)) {
    await hold.reopen(0, false)
    return 'given back'
  }
  return settle(hold, job, status)
}

function dueOf(ferry: JobContext, job: QueuedJob, bell: Bell, rungFor: Date): Due | null {
  const due = slotOfBell(job.timing(ferry), rungFor, ferry.catchUpMs, new Date())
  return due && bell.slot ? { slot: new Date(bell.slot), trigger: bell.trigger } : due
}

async function runJob(
  ferry: JobContext,
  job: QueuedJob,
  account: string,
  { slot, trigger }: Due,
  signal: AbortSignal,
): Promise<RunStatus> {
  try {
    const call = { account, trigger, ...(trigger !== 'manual' && { slot }) }
    return (await job.run(ferry, call, signal)).status
  } catch (error) {
    if (!signal.aborted)
      ferry.log.error(
        { error: reasonOf(error), stack: error instanceof Error ? error.stack : undefined },
        'a job broke',
      )
    return 'failed'
  }
}

async function settle(hold: Hold, job: QueuedJob, status: RunStatus): Promise<Answer> {
  if (status === 'skipped' && job.skippedAgainAfterMs !== null) {
    await hold.reopen(job.skippedAgainAfterMs, false)
    return 'later'
  }
  const pauseMs = status === 'failed' ? job.retryAfterMs[hold.attempts - 1] : undefined
  if (pauseMs !== undefined) {
    await hold.reopen(pauseMs, true)
    return 'later'
  }
  await hold.settle(status, WORTH_KEEPING.has(status))
  return 'done'
}
