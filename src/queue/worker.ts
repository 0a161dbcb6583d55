import { setTimeout as delay } from 'node:timers/promises'
import { type Job as QueueJob, WaitingError } from 'bullmq'
import { answerBell } from './answer.ts'
import type { QueueBackend } from './backend.ts'
import { alignSchedulers, rungAt } from './bells.ts'
import { type Bell, isQueued, type Job, type JobContext, type WorkerJob } from './job.ts'
import { openReconciler, type Reconciler } from './reconcile.ts'
import { schedulesOf } from './schedules.ts'

export type FerryWorker = {
  /**
   * Stops within `deadlineMs`, whether the queue is in reach or not: takes nothing new, lets what is under way end,
   * aborts what still is after five sixths of the time, and gives it back without spending an attempt.
   */
  drain(deadlineMs: number): Promise<void>
}

/** The queue is told that a bell is free again; if it does not hear, a reconciler rings for the slot soon after. */
const GIVE_BACK_MS = 1_000
/** With Redis out of reach BullMQ would close for ever. */
const CLOSE_MS = 2_000

/** Begins to work: puts the schedules into the queue, answers bells, and runs the jobs that keep their own time. */
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
    log.warn({ error: String(error) }, 'the schedules could not be put into the queue yet')
  })

  let draining = false
  const underWay = new Set<Promise<unknown>>()
  // Three parameters, or BullMQ passes no signal.
  const worker = backend.openWorker(async (bell, token, stop = new AbortController().signal) => {
    const answer = draining ? 'given back' : answerBell(ferry, queued, bell.data, rungAt(bell), stop)
    const answered = Promise.resolve(answer).then(what => what === 'given back' && draining && giveBack(bell, token))
    underWay.add(answered)
    await answered.finally(() => underWay.delete(answered))
  })
  worker.run().catch(error => log.error({ error: String(error) }, 'the worker broke'))
  const chores = jobs.filter(job => !isQueued(job)).map(job => keepTime(job, reconciler, ferry))

  return {
    async drain(deadlineMs) {
      draining = true
      const deadline = performance.now() + deadlineMs
      for (const chore of chores) await chore.stop()
      const closing = Promise.all([worker.close(), queue.close()])
      await within((deadlineMs * 5) / 6, allSettled(underWay))
      if (underWay.size > 0) {
        log.warn({ jobs: underWay.size }, 'what is still under way is aborted and given back')
        worker.cancelAllJobs('draining')
        await within(deadline - performance.now() - CLOSE_MS, allSettled(underWay))
      }
      if (!(await within(CLOSE_MS, closing))) {
        log.warn('the queue is out of reach: the worker leaves without a goodbye')
        worker.disconnect().catch(() => {})
      }
    },
  }
}
