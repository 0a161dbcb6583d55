import type { Queue } from 'bullmq'
import { pino } from 'pino'
import { defineJob, type Job, type JobContext, type JobOutcome, ScheduledPayload } from '#jobs/job.ts'
import { loadInstallation } from '#src/db/installation.ts'
import { OwnCall } from '#src/db/known-database.ts'
import { openDatabase } from '#src/db/pool.ts'
import type { ImportAccount } from '#src/imports/context.ts'
import type { InventoryAccount } from '#src/inventory/context.ts'
import { createKnownRows } from '#src/inventory/read/known-rows.ts'
import { createWorkLimit } from '#src/model/work-limit.ts'
import { type BackendSettings, migrateQueue, openBackend, openRawQueue } from '#src/queue/backend.ts'
import type { ScheduleWakeUp } from '#src/queue/messages.ts'
import { type Schedule, type ScheduleDefinition, schedulesOf } from '#src/schedules/definition.ts'
import { type FerryWorker, openWorker, type WorkerContext, type WorkerOptions } from '#src/worker/worker.ts'
import { openTestDatabase } from '../support/database.ts'
import { ageInstallation } from '../support/installation.ts'
import { openTestRedis, testRedisUrl } from '../support/redis.ts'
import { listSlots } from '../support/slots.ts'
import { waitFor } from '../support/wait-for.ts'
import { wipeQueue } from '../support/wipe-queue.ts'

/** Every test of the queue runs on each of these. */
export const BACKENDS = testRedisUrl ? (['postgres', 'redis'] as const) : (['postgres'] as const)

type Draining = Pick<FerryWorker, 'drain'>

export type QueueHarness = {
  readonly ferry: WorkerContext
  readonly backend: BackendSettings
  /** Opens a worker; it is drained at the end of the test at the latest. */
  work(jobs: readonly TestJob[], reconciler?: Reconciler): Promise<Draining>
  /** The schedules of these jobs, for each account. */
  schedulesOf(jobs: readonly TestJob[]): Schedule[]
  /** What the queue needs to be used without a worker. */
  openBackend(): ReturnType<typeof openBackend>
  /** The queue as BullMQ shows it. */
  readonly queue: Queue<ScheduleWakeUp>
  /** Enqueues a wake-up that nobody would have to. */
  wake(wakeUp: Partial<ScheduleWakeUp> & Pick<ScheduleWakeUp, 'job'>): Promise<void>
  /** Resolves once every wake-up was processed, except `active` that are under way. */
  processed(active?: number): Promise<void>
  /** The queue forgets everything, as after FLUSHALL. */
  wipeQueue(): Promise<void>
  /** All slots, oldest first. */
  slots(): ReturnType<typeof listSlots>
  /** As if Ferry had been installed long ago. */
  installedLongAgo(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A database, a queue and the means to work on them, all of them this test's own. */
export async function openQueueHarness(
  kind: (typeof BACKENDS)[number],
  settings: Settings = {},
): Promise<QueueHarness> {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await openTestDatabase({ hasQueue: kind === 'postgres' }))
  const redis = kind === 'redis' ? opened.use(await openTestRedis()) : null
  const backend = { databaseUrl: database.url, redisUrl: redis?.url ?? null }
  await migrateQueue(backend)
  const ferry = contextOf(settings, opened.use(openDatabase(database.url, SILENT)).pool)
  const { id } = await loadInstallation(ferry.pool)
  const open = () => openBackend({ ...backend, installation: id, log: ferry.log })
  const queue = openRawQueue({ ...backend, installation: id }, 'sync') as unknown as Queue<ScheduleWakeUp>
  queue.on('error', () => {})
  opened.defer(() => queue.close())
  const workers = new Set<Draining>()
  opened.defer(async () => {
    await Promise.all([...workers].map(worker => worker.drain(5_000)))
  })
  const kept = opened.move()
  return {
    ferry,
    backend,
    queue,
    async wake(wakeUp) {
      const data = { account: 'default', ...wakeUp }
      await queue.add(wakeUp.job, data, { removeOnComplete: true, removeOnFail: true })
    },
    async processed(active = 0) {
      const counts = () => queue.getJobCounts('waiting', 'active')
      const isSo = async () => JSON.stringify(await counts()) === JSON.stringify({ waiting: 0, active })
      await waitFor(isSo, { what: 'every wake-up to be processed' })
    },
    openBackend: open,
    schedulesOf: jobs =>
      schedulesOf(
        jobs.map(job => job.schedule),
        ferry.accounts.keys(),
      ),
    async work(jobs, reconciler) {
      const worker = await openWorker(ferry, open(), workOf(jobs, reconciler))
      const tracked = { drain: (ms: number) => worker.drain(ms).finally(() => workers.delete(tracked)) }
      workers.add(tracked)
      return tracked
    },
    wipeQueue: () => wipeQueue(ferry.pool, redis?.url),
    slots: () => listSlots(ferry.pool),
    installedLongAgo: () => ageInstallation(ferry.pool),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const SILENT = pino({ level: process.env.FERRY_TEST_LOG_LEVEL ?? 'silent' })

export type Settings = { readonly catchUpMs?: number; readonly accounts?: readonly string[] }

/** Test jobs call no platform, so an account needs no more than its name. */
export function contextOf(
  { accounts = ['default'], catchUpMs = 6 * 3_600_000 }: Settings,
  pool: JobContext['pool'],
): WorkerContext {
  return {
    pool,
    accounts: new Map(accounts.map(name => [name, { name } as InventoryAccount & ImportAccount])),
    removalGuard: { rows: 10, share: 0.2 },
    limitWork: createWorkLimit(Number.POSITIVE_INFINITY),
    limitLongWork: createWorkLimit(Number.POSITIVE_INFINITY),
    knownRows: createKnownRows(0),
    retention: {
      versionsMs: null,
      callsMs: null,
      runsMs: null,
      quarantineMs: null,
      recipientsMs: null,
      notificationsMs: null,
    },
    holder: 'test',
    arrivalBoundMs: 5_000,
    ownCall: new OwnCall(),
    noticeDatabase: async () => null,
    requestTimeoutMs: 20_000,
    log: SILENT,
    catchUpMs,
  }
}

/** A job with a schedule of its own. */
export type TestJob = {
  readonly name: string
  readonly job: Job
  readonly schedule: ScheduleDefinition
  /** What it was called with. */
  readonly calls: ScheduledPayload[]
}

type Run = (context: JobContext, call: ScheduledPayload, cutOff: AbortSignal) => Promise<JobOutcome>

/** A job that notes its calls and ends as `run` says; by default it succeeds at once. */
export function testJob(
  options: Partial<ScheduleDefinition> & Pick<ScheduleDefinition, 'timing'> & { run?: Run },
): TestJob {
  const calls: ScheduledPayload[] = []
  const { run = async () => ({ status: 'succeeded' }), name = 'test-job', ...others } = options
  const job = defineJob({
    name,
    payload: ScheduledPayload,
    run(context, call, { cutOff }) {
      calls.push(call)
      return run(context, call, cutOff)
    },
  })
  const schedule: ScheduleDefinition = {
    name,
    perAccount: true,
    beginsAtOnce: false,
    retryAfterMs: [],
    skippedAgainAfterMs: null,
    ...others,
  }
  return { name, job, schedule, calls }
}

/** How often a worker looks for what is due by itself. */
export type Reconciler = Pick<WorkerOptions, 'reconcileEveryMs'>

/** The reconciler, quick enough for a test. */
export const reconcileOften: Reconciler = { reconcileEveryMs: 100 }

/** No reconciler: nothing is done without a wake-up. */
export const reconcileNever: Reconciler = { reconcileEveryMs: null }

/** What a worker is opened with that does these jobs. */
export function workOf(jobs: readonly TestJob[], reconciler = reconcileNever): WorkerOptions {
  return { jobs: jobs.map(one => one.job), schedules: jobs.map(one => one.schedule), ...reconciler }
}

/** Every thousand days: no slot begins while a test runs. */
export const ONCE = { everyMs: 1_000 * 24 * 3_600_000 }

/** A cron time that was due so long ago, and is due again a day later; with the slot it names. */
export function dailyCron(agoMs: number): { cron: string; slot: Date } {
  const slot = new Date(Math.floor((Date.now() - agoMs) / 60_000) * 60_000)
  return { cron: `${slot.getUTCMinutes()} ${slot.getUTCHours()} * * *`, slot }
}

/** Runs until told otherwise: ends well when released, or throws the signal's reason once aborted. */
export function openGate(): { release(): void; pass(signal: AbortSignal): Promise<JobOutcome> } {
  const gate = Promise.withResolvers<JobOutcome>()
  return {
    release: () => gate.resolve({ status: 'succeeded' }),
    pass(signal) {
      const aborted = Promise.withResolvers<JobOutcome>()
      signal.addEventListener('abort', () => aborted.reject(signal.reason))
      return Promise.race([gate.promise, aborted.promise])
    },
  }
}
