import { type Job as QueueJob, WaitingError } from 'bullmq'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { answerBell } from './answer.ts'
import type { QueueBackend } from './backend.ts'
import { alignSchedulers, rungAt } from './bells.ts'
import { type Bell, isQueued, type Job, type JobContext, type WorkerJob } from './job.ts'
import { openReconciler, type Reconciler } from './reconcile.ts'
import { schedulesOf } from './schedules.ts'
import { within } from './within.ts'

export type FerryWorker = {
  /**
   * Stops within `deadlineMs`, whether the queue is in reach or not: takes nothing new, lets what is under way end,
   * aborts what still is after five sixths of the time, and gives it back without spending an attempt.
   */
  drain(deadlineMs: number): Promise<void>
}

/** The queue is told that a bell is free again; if it does not hear, a reconciler rings for the slot soon after. */
const GIVE_BACK_MS = 1_000
/** Long for a queue that has just been checked; one that went away since is waited for by BullMQ. */
const READY_MS = 5_000

/**
 * Begins to work: puts the schedules into the queue, answers bells, and runs the jobs that keep their own time.
 *
 * A bell whose lock in the queue is lost (the queue was wiped, this process stood still) is no reason to stop: another
 * worker that gets it finds the slot taken. What stops the work is the loss of its hold in Postgres.
 */
export async function openWorker(
  ferry: JobContext,
  backend: QueueBackend,
  jobs: readonly Job[],
): Promise<FerryWorker> {
  const { log } = ferry
  const queued = jobs.filter(isQueued)
  const schedules = schedulesOf(ferry, queued)
  const queue = backend.openQueue()
  const reconciler = await openReconciler(ferry, queue, schedules)
  await alignSchedulers(queue, schedules).catch(error => {
    log.warn({ error: reasonOf(error) }, 'the schedules could not be put into the queue yet')
  })

  let draining = false
  const underWay = new Set<Promise<void>>()
  const worker = backend.openWorker(async (bell, token, stop) => {
    const answering = answer(bell, token, stop)
    underWay.add(answering)
    await answering.finally(() => underWay.delete(answering))
  })
  worker.run().catch(error => log.error({ error: reasonOf(error) }, 'the worker broke'))
  // Closed before it is ready, BullMQ would leave a connection behind.
  await within(READY_MS, worker.waitUntilReady())
  const clocks = jobs.flatMap(job => (isQueued(job) ? [] : [keepTime(job, reconciler, log)]))

  async function answer(bell: QueueJob<Bell>, token?: string, stop?: AbortSignal): Promise<void> {
    if (!stop) throw new Error('BullMQ passes a signal only to a function with three parameters')
    const answer = draining ? 'given back' : await answerBell(ferry, queued, bell.data, rungAt(bell), stop)
    if (answer !== 'given back' || !draining) return
    await within(GIVE_BACK_MS, bell.moveToWait(token))
    throw new WaitingError()
  }

  return {
    async drain(deadlineMs) {
      draining = true
      const clocksStopped = Promise.all(clocks.map(clock => clock.stop()))
      const idle = worker.pause()
      if (!(await within((deadlineMs * 10) / 12, settled(underWay)))) {
        log.warn({ jobs: underWay.size }, 'what is still under way is aborted and given back')
        worker.cancelAllJobs('draining')
        await within(deadlineMs / 12, settled(underWay))
      }
      // With Redis out of reach BullMQ would wait for it for ever, here and in a close that is not forced.
      if (!(await within(deadlineMs / 12, Promise.all([idle, clocksStopped])))) {
        log.warn('the queue is out of reach: the worker leaves without a goodbye')
      }
      await worker.close(true)
      await queue.close()
    },
  }
}

/** Runs a job again and again, sooner if it asks for that, until it is stopped. One that fails is tried again. */
function keepTime(job: WorkerJob, reconciler: Reconciler, log: Logger): { stop(): Promise<void> } {
  let stopped = false
  let failing = false
  let timer: NodeJS.Timeout | undefined
  let running = turn()

  async function turn(): Promise<void> {
    let waitMs = job.everyMs
    try {
      waitMs = Math.min(waitMs, await job.run(reconciler))
      if (failing) log.info({ job: job.name }, 'a job that failed works again')
      failing = false
    } catch (error) {
      log[failing ? 'debug' : 'warn'](
        { job: job.name, error: reasonOf(error) },
        'a job failed and is tried again',
      )
      failing = true
    }
    if (stopped) return
    timer = setTimeout(() => {
      running = turn()
    }, waitMs)
  }

  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

async function settled(promises: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (promises.size > 0) await Promise.allSettled(promises)
}
