import { reasonOf } from '#src/model/reason.ts'
import type { RunResult, RunStatus } from '#src/model/run.ts'
import { isPassing } from '#src/store/patience.ts'
import { type Hold, takeSlot } from '#src/store/slots.ts'
import type { FindDue } from './due.ts'
import type { Bell, JobContext, JobResult, QueuedJob } from './job.ts'
import type { Due } from './plan.ts'
import { schedulesOf } from './schedules.ts'

/** What became of a bell. `given back`: the work was stopped, and is to be done by somebody else, at once. */
export type Answer = 'nothing to do' | 'done' | 'later' | 'given back'

/** Outcomes that stand even if the run was told to stop meanwhile: its work is in Postgres. */
const WORTH_KEEPING: ReadonlySet<RunStatus> = new Set(['succeeded', 'partial', 'held'])

/**
 * Does what is due of the schedule a bell names, if nobody is at it.
 *
 *     bell ──► due ──► slot ──► hold ──► run ──┬─ succeeded, partial, held ──► done
 *                                              ├─ failed, tries left ────────► again after a pause
 *                                              ├─ failed, no tries left ─────► done (failed)
 *                                              ├─ skipped ───────────────────► done, or again after a pause
 *                                              └─ stopped ───────────────────► free at once, the attempt not counted
 *
 * A fault of the job itself is logged and counts as failed. Throws only if Postgres cannot be reached: then the hold runs
 * out by itself and the slot is free.
 */
export async function answerBell(
  ferry: JobContext,
  jobs: readonly QueuedJob[],
  findDue: FindDue,
  bell: Bell,
  stop: AbortSignal,
  onRun: (run: RunResult) => void = () => {},
): Promise<Answer> {
  const job = jobs.find(candidate => candidate.name === bell.job)
  const schedule = job && schedulesOf(ferry, [job]).find(schedule => schedule.account === bell.account)
  if (!job || !schedule) {
    // Rung by a worker with other settings, or before these were changed.
    ferry.log.debug({ bell }, 'a bell for a schedule unknown here was ignored')
    return 'nothing to do'
  }
  const due = (await findDue([schedule])).due[0]?.slot
  if (!due) return 'nothing to do'
  const key = { schedule: job.name, account: bell.account }
  const log = ferry.log.child({ ...key, slot: due.slot })
  const hold = await takeSlot(ferry.pool, key, due.slot, { evenIfPaused: due.trigger === 'manual', log })
  if (!hold) return 'nothing to do'

  const signal = AbortSignal.any([stop, hold.signal])
  const { status, runs = [] } = await runJob({ ...ferry, log }, job, bell.account, due, signal)
  for (const run of runs) onRun(run)
  if (signal.aborted && !WORTH_KEEPING.has(status)) {
    await hold.reopen(0, false)
    return 'given back'
  }
  return settle(hold, job, status)
}

async function runJob(
  ferry: JobContext,
  job: QueuedJob,
  account: string,
  { slot, trigger }: Due,
  signal: AbortSignal,
): Promise<JobResult> {
  try {
    const call = { account, trigger, ...(trigger !== 'manual' && { slot }) }
    return await job.run(ferry, call, signal)
  } catch (error) {
    if (!signal.aborted)
      // That Postgres is away is said once, by its pool.
      ferry.log[isPassing(error) ? 'debug' : 'error'](
        { error: reasonOf(error), stack: error instanceof Error ? error.stack : undefined },
        'a job broke',
      )
    return { status: 'failed' }
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
