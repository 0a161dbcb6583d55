import type { Logger } from 'pino'
import type { Job, JobContext, JobOutcome } from '#jobs/job.ts'
import { loadInstallation } from '#src/db/installation.ts'
import { retryTransient } from '#src/db/retry.ts'
import { removeWorker } from '#src/db/workers.ts'
import { reasonOf } from '#src/model/reason.ts'
import type { RunResult } from '#src/model/run.ts'
import { succeedsWithin } from '#src/model/within.ts'
import type { QueueBackend } from '#src/queue/backend.ts'
import { Consumer, type ConsumerOptions } from '#src/queue/consumer.ts'
import type { QueueName, WakeUps } from '#src/queue/messages.ts'
import { type ScheduleDefinition, schedulesOf } from '#src/schedules/definition.ts'
import { DueFinder } from '#src/schedules/find-due.ts'
import { createCapacity } from './capacity.ts'
import { timedSince } from './freshness-targets.ts'
import { Loop } from './loop.ts'
import { processImport } from './process-import.ts'
import { processSchedule } from './process-schedule.ts'
import { Reconciler, type WorkerFacts } from './reconcile.ts'
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
  /** Called with each finished run. */
  readonly onRun?: (run: RunResult) => void
  /** The reconciler looks at least this often; null: never. */
  readonly reconcileEveryMs?: number | null
}

/**
 * Jobs of one account under way in one worker, at most, and as many of its imports. Each account is counted by itself, so
 * one whose platform hangs delays no other. They mostly wait for the platform: how many of them
 * work at once is another setting (`FERRY_WORKER_CONCURRENCY`).
 */
export const MAX_PER_ACCOUNT = 4

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
  const dueFinder = new DueFinder({ pool, log, catchUpMs, installedAt, timedSince })
  const schedules = schedulesOf(definitions, context.accounts.keys())
  const producers = { sync: backend.openQueue('sync'), import: backend.openQueue('import') }

  const draining = new AbortController()
  const { signal } = draining
  const report = createRunReport(log)
  const scheduleProcessor = {
    context,
    jobs,
    schedules,
    dueFinder,
    capacity: createCapacity(MAX_PER_ACCOUNT),
    onEnd(_: unknown, { runs = [] }: JobOutcome) {
      for (const run of runs) {
        report(run)
        onRun?.(run)
      }
    },
  }
  const importProcessor = {
    context,
    jobs,
    queue: producers.import,
    capacity: createCapacity(MAX_PER_ACCOUNT),
  }
  const consumers = await openConsumers(backend, MAX_PER_ACCOUNT * context.accounts.size + 1, {
    sync: (job, cutOff) => processSchedule(scheduleProcessor, job.data, { signal, cutOff }),
    import: (job, cutOff) => processImport(importProcessor, job.name, job.data, { signal, cutOff }),
  })
  const reconciler = new Reconciler(context, dueFinder, { producers, consumers }, schedules, facts)
  const timer =
    reconcileEveryMs === null ? null : new Loop('reconciler', reconcileEveryMs, () => reconciler.look(), log)

  return {
    async countWaiting() {
      const [sync, imports] = await Promise.all([
        producers.sync.getWaitingCount(),
        producers.import.getWaitingCount(),
      ])
      return { sync, import: imports }
    },
    async drain(deadlineMs) {
      draining.abort(new Error('draining'))
      backend.outage.closes()
      await drain(Object.values(consumers), timer, deadlineMs, log)
      if (timer) await leave(context)
      await Promise.all(Object.values(producers).map(producer => producer.close()))
    },
  }
}

type Processes = { readonly [Name in QueueName]: ConsumerOptions<WakeUps[Name]>['process'] }

/** Opens the consumers of both queues, one after the other. */
async function openConsumers(backend: QueueBackend, concurrency: number, processes: Processes) {
  const open = <Name extends QueueName>(name: Name, process: Processes[Name]) =>
    Consumer.open<WakeUps[Name]>({
      what: `${name}: worker`,
      open: wakeUp => backend.openWorker(name, wakeUp, concurrency),
      process,
      outage: backend.outage,
    })
  return { sync: await open('sync', processes.sync), import: await open('import', processes.import) }
}

async function leave({ pool, holder, log }: WorkerContext): Promise<void> {
  await removeWorker(pool, holder).catch(error =>
    log.debug(
      { error: reasonOf(error) },
      'The row of this worker could not be removed; it is shown as silent.',
    ),
  )
}

type Drained = Pick<Consumer<unknown>, 'underWay' | 'stop' | 'abort' | 'close'>

/**
 * Stops the consumers and a timer within `deadlineMs`: five sixths of it for what is under way to end, then a twelfth for
 * what is cut off, and a twelfth for the queue to answer.
 */
export async function drain(
  consumers: readonly Drained[],
  timer: { stop(): Promise<void> } | null,
  deadlineMs: number,
  log: Logger,
): Promise<void> {
  const stopped = Promise.all([...consumers.map(consumer => consumer.stop()), timer?.stop()])
  stopped.catch(() => {}) // told below, once what is under way has ended
  const underWay = () => consumers.flatMap(consumer => [...consumer.underWay])
  if (!(await succeedsWithin((deadlineMs * 10) / 12, settled(underWay)))) {
    log.warn({ jobs: underWay().length }, 'Cutting off the work that has not ended, and giving it back.')
    for (const consumer of consumers) consumer.abort()
    await succeedsWithin(deadlineMs / 12, settled(underWay))
  }
  // BullMQ would wait without end for a Redis that does not answer, here and in a close that is not forced.
  if (!(await succeedsWithin(deadlineMs / 12, stopped))) {
    const seconds = (deadlineMs / 12_000).toFixed(1)
    log.warn(`The queue did not answer within ${seconds} s; exiting without closing it.`)
  }
  await Promise.all(consumers.map(consumer => consumer.close()))
}

async function settled(underWay: () => readonly Promise<unknown>[]): Promise<void> {
  while (underWay().length > 0) await Promise.allSettled(underWay())
}
