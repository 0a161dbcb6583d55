import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import type { RunResult } from '#src/model/run.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { isPassing } from '#src/store/patience.ts'
import { type Answer, answerBell } from './answer.ts'
import type { QueueBackend } from './backend.ts'
import { openDesk } from './desk.ts'
import { createFindDue } from './due.ts'
import { createHands, type Hands } from './hands.ts'
import { createImportReport } from './import-report.ts'
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
import { createReconciler, type Reconciler } from './reconcile.ts'
import { createRunReport } from './run-report.ts'
import { schedulesOf } from './schedules.ts'
import { within } from './within.ts'

export type FerryWorker = {
  /**
   * Stops within `deadlineMs`, whether the queue is in reach or not: takes nothing new, lets what is under way end,
   * aborts what still is after five sixths of the time, and gives it back without spending an attempt.
   */
  drain(deadlineMs: number): Promise<void>
}

/**
 * As many jobs of one account, and as many of its imports, are under way in one worker at most. They are counted apart for
 * each account, so one whose platform hangs keeps no other waiting. They mostly wait for the platform: how many of them
 * work at once is another setting (`FERRY_WORKER_CONCURRENCY`).
 */
const HANDS_PER_ACCOUNT = 4

/** Begins to work: answers bells, and runs the jobs that keep their own time. `onRun` is told how each run ends. */
export async function openWorker(
  ferry: JobContext,
  backend: QueueBackend,
  jobs: readonly Job[],
  onRun: (run: RunResult) => void = () => {},
): Promise<FerryWorker> {
  const { log } = ferry
  const queued = jobs.filter(isQueued)
  const importJob = jobs.find(isImportJob)
  const { createdAt } = await loadInstallation(ferry.pool)
  const findDue = createFindDue(ferry, createdAt)
  const queue = backend.openQueue('sync')
  const importQueue = importJob ? backend.openQueue('import') : null
  const reconciler = createReconciler(ferry, findDue, queue, schedulesOf(ferry, queued), importQueue)
  const report = createRunReport(log)
  const reportImport = createImportReport(ferry)
  const syncHands = createHands(HANDS_PER_ACCOUNT)
  const importHands = createHands(HANDS_PER_ACCOUNT)

  const draining = new AbortController()
  const concurrency = HANDS_PER_ACCOUNT * ferry.accounts.size + 1
  const desks = [
    await openDesk<Bell>(
      'sync: worker',
      answer => backend.openWorker('sync', answer, concurrency),
      (bell, stop) =>
        withHand(syncHands, bell.data.account, () =>
          answerBell(ferry, queued, findDue, bell.data, stop, run => {
            report(run)
            onRun(run)
          }),
        ),
      backend.outage,
    ),
  ]
  if (importJob && importQueue) {
    desks.push(
      await openDesk<ImportBell>(
        'import: worker',
        answer => backend.openWorker('import', answer, concurrency),
        (bell, cutOff) =>
          answerImportBell(
            ferry,
            { queue: importQueue, hands: importHands, report: reportImport },
            importJob,
            bell.data,
            { signal: draining.signal, cutOff },
          ),
        backend.outage,
      ),
    )
  }
  const clocks = jobs.filter(isWorkerJob).map(job => keepTime(job, reconciler, log))

  return {
    async drain(deadlineMs) {
      draining.abort(new Error('draining'))
      backend.outage.closes()
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
        log.warn('The queue did not answer in time; the worker exits without closing it.')
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
      log[failing || isPassing(error) ? 'debug' : 'warn'](
        { job: job.name, error: reasonOf(error) },
        'a job failed and is tried again',
      )
      // That Postgres is away, and back, is said once by its pool.
      failing ||= !isPassing(error)
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

/** An account that has its hands full is looked at again by the reconciler. */
async function withHand(hands: Hands, account: string, work: () => Promise<Answer>): Promise<Answer> {
  const free = hands.take(account)
  if (!free) return 'nothing to do'
  try {
    return await work()
  } finally {
    free()
  }
}

async function settled(underWay: () => readonly Promise<unknown>[]): Promise<void> {
  while (underWay().length > 0) await Promise.allSettled(underWay())
}
