import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { answerBell } from './answer.ts'
import type { QueueBackend } from './backend.ts'
import { alignSchedulers, rungAt } from './bells.ts'
import { openDesk } from './desk.ts'
import { answerImportBell } from './imports.ts'
import {
  type Bell,
  type ImportBell,
  isImportJob,
  isQueued,
  isWorkerJob,
  type Job,
  type JobContext,
  type WorkerJob,
} from './job.ts'
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

/** Begins to work: puts the schedules into the queue, answers bells, and runs the jobs that keep their own time. */
export async function openWorker(
  ferry: JobContext,
  backend: QueueBackend,
  jobs: readonly Job[],
): Promise<FerryWorker> {
  const { log } = ferry
  const queued = jobs.filter(isQueued)
  const importJob = jobs.find(isImportJob)
  const schedules = schedulesOf(ferry, queued)
  const queue = backend.openQueue('sync')
  const importQueue = importJob ? backend.openQueue('import') : null
  const reconciler = await openReconciler(ferry, queue, schedules, importQueue)
  await alignSchedulers(queue, schedules).catch(error => {
    log.warn({ error: reasonOf(error) }, 'the schedules could not be put into the queue yet')
  })

  const draining = new AbortController()
  const desks = [
    await openDesk<Bell>(
      answer => backend.openWorker('sync', answer),
      (bell, stop) => answerBell(ferry, queued, bell.data, rungAt(bell), stop),
      log,
    ),
  ]
  if (importJob && importQueue) {
    desks.push(
      await openDesk<ImportBell>(
        answer => backend.openWorker('import', answer),
        (bell, cutOff) =>
          answerImportBell(ferry, importQueue, importJob, bell.data, { signal: draining.signal, cutOff }),
        log,
      ),
    )
  }
  const clocks = jobs.filter(isWorkerJob).map(job => keepTime(job, reconciler, log))

  return {
    async drain(deadlineMs) {
      draining.abort(new Error('draining'))
      const idle = desks.map(desk => desk.stop())
      const clocksStopped = clocks.map(clock => clock.stop())
      const underWay = () => desks.flatMap(desk => [...desk.underWay])
      if (!(await within((deadlineMs * 10) / 12, settled(underWay)))) {
        log.warn({ jobs: underWay().length }, 'what is still under way is aborted and given back')
        for (const desk of desks) desk.abort()
        await within(deadlineMs / 12, settled(underWay))
      }
      // With Redis out of reach BullMQ would wait for it for ever, here and in a close that is not forced.
      if (!(await within(deadlineMs / 12, Promise.all([...idle, ...clocksStopped])))) {
        log.warn('the queue is out of reach: the worker leaves without a goodbye')
      }
      await Promise.all(desks.map(desk => desk.close()))
      await queue.close()
      await importQueue?.close()
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

async function settled(underWay: () => readonly Promise<unknown>[]): Promise<void> {
  while (underWay().length > 0) await Promise.allSettled(underWay())
}
