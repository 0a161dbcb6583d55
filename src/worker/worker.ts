import type { Job, JobContext } from '#jobs/job.ts'
import { loadInstallation } from '#src/db/installation.ts'
import { retryTransient } from '#src/db/retry.ts'
import { removeWorker } from '#src/db/workers.ts'
import { reasonOf } from '#src/model/reason.ts'
import type { RunResult } from '#src/model/run.ts'
import type { QueueBackend } from '#src/queue/backend.ts'
import { openConsumer } from '#src/queue/consumer.ts'
import type { ImportWakeUp, QueueName, ScheduleWakeUp } from '#src/queue/messages.ts'
import { type ScheduleDefinition, schedulesOf } from '#src/schedules/definition.ts'
import { createFindDue } from '#src/schedules/find-due.ts'
import { createCapacity } from './capacity.ts'
import { drain } from './drain.ts'
import { createImportReport } from './import-log.ts'
import { processImport } from './process-import.ts'
import { processSchedule } from './process-schedule.ts'
import { createReconciler, type WorkerFacts } from './reconcile.ts'
import { repeat } from './repeat.ts'
import { createRunReport } from './run-log.ts'

export type FerryWorker = {
  /** How many wake-ups wait in each queue; null for one that does not answer, which may take up to 10 s. */
  countWaiting(): Promise<Readonly<Record<QueueName, number | null>>>
  /**
   * Stops within `deadlineMs`, whether the queue answers or not: takes nothing new, lets what is under way end, cuts off
   * what is left after five sixths of the time, and gives it back without spending an attempt.
   */
  drain(deadlineMs: number): Promise<void>
}

export type WorkerContext = JobContext & {
  /** `FERRY_CATCH_UP` */
  readonly catchUpMs: number
}

export type WorkerOptions = WorkerFacts & {
  readonly jobs: readonly Job[]
  readonly schedules: readonly ScheduleDefinition[]
  /** Is told how each run ends. */
  readonly onRun?: (run: RunResult) => void
  /** How often the reconciler looks at least; null: never. */
  readonly reconcileEveryMs?: number | null
}

/**
 * As many jobs of one account, and as many of its imports, are under way in one worker at most. They are counted apart for
 * each account, so one whose platform hangs delays no other. They mostly wait for the platform: how many of them
 * work at once is another setting (`FERRY_WORKER_CONCURRENCY`).
 */
const MAX_PER_ACCOUNT = 4

/** Work goes on within seconds after a worker died; a look costs a few small queries. */
const RECONCILE_EVERY_MS = 5_000

/** Begins to work: processes wake-ups, and looks for what is due without them. */
export async function openWorker(
  context: WorkerContext,
  backend: QueueBackend,
  { jobs, schedules: definitions, onRun, reconcileEveryMs = RECONCILE_EVERY_MS, ...facts }: WorkerOptions,
): Promise<FerryWorker> {
  const { pool, log, catchUpMs } = context
  const { createdAt: installedAt } = await retryTransient(() => loadInstallation(pool))
  const findDue = createFindDue({ pool, log, catchUpMs, installedAt })
  const schedules = schedulesOf(definitions, context.accounts.keys())
  const queues = { sync: backend.openQueue('sync'), import: backend.openQueue('import') }
  const reconciler = createReconciler(context, findDue, queues, schedules, facts)

  const draining = new AbortController()
  const { signal } = draining
  const report = createRunReport(log)
  const scheduleProcessor = {
    context,
    jobs,
    schedules,
    findDue,
    capacity: createCapacity(MAX_PER_ACCOUNT),
    onRun(run: RunResult) {
      report(run)
      onRun?.(run)
    },
  }
  const importProcessor = {
    context,
    jobs,
    queue: queues.import,
    capacity: createCapacity(MAX_PER_ACCOUNT),
    onEnd: createImportReport(context),
  }
  const concurrency = MAX_PER_ACCOUNT * context.accounts.size + 1
  const consumers = [
    await openConsumer<ScheduleWakeUp>(
      'sync: worker',
      process => backend.openWorker('sync', process, concurrency),
      (job, cutOff) => processSchedule(scheduleProcessor, job.data, { signal, cutOff }),
      backend.outage,
    ),
    await openConsumer<ImportWakeUp>(
      'import: worker',
      process => backend.openWorker('import', process, concurrency),
      (job, cutOff) => processImport(importProcessor, job.name, job.data, { signal, cutOff }),
      backend.outage,
    ),
  ]
  const timer =
    reconcileEveryMs === null ? null : repeat('reconciler', reconcileEveryMs, reconciler.look, log)

  return {
    async countWaiting() {
      const [sync, imports] = await Promise.all([
        queues.sync.getWaitingCount(),
        queues.import.getWaitingCount(),
      ])
      return { sync, import: imports }
    },
    async drain(deadlineMs) {
      draining.abort(new Error('draining'))
      backend.outage.closes()
      await drain(consumers, timer, deadlineMs, log)
      if (timer) {
        await removeWorker(pool, context.holder).catch(error =>
          log.debug(
            { error: reasonOf(error) },
            'The row of this worker could not be removed; it is shown as silent.',
          ),
        )
      }
      await Promise.all(Object.values(queues).map(queue => queue.close()))
    },
  }
}
