import type { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import type { ImportAccount } from '#src/imports/context.ts'
import type { InventoryAccount } from '#src/inventory/context.ts'
import { type BackendSettings, migrateQueue, openBackend, openRawQueue } from '#src/queue/backend.ts'
import type {
  Bell,
  Job,
  JobCall,
  JobContext,
  JobResult,
  JobSettings,
  QueuedJob,
  WorkerJob,
} from '#src/queue/job.ts'
import { type FerryWorker, openWorker } from '#src/queue/worker.ts'
import { openDatabase } from '#src/store/database.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { patiently } from '#src/store/patience.ts'
import { openTestDatabase } from '../support/database.ts'
import { openTestRedis, testRedisUrl } from '../support/redis.ts'
import { waitFor } from '../support/wait-for.ts'

/** Every test of the queue runs on each of these. */
export const BACKENDS = testRedisUrl ? (['postgres', 'redis'] as const) : (['postgres'] as const)

export type QueueRoom = {
  readonly ferry: JobContext
  readonly backend: BackendSettings
  /** Opens a worker; it is drained at the end of the test at the latest. */
  work(jobs: readonly Job[]): Promise<FerryWorker>
  /** What the queue needs to be used without a worker. */
  openBackend(): ReturnType<typeof openBackend>
  /** The queue as BullMQ shows it. */
  readonly queue: Queue<Bell>
  /** Rings once more than anybody would. */
  ringAgain(bell: Partial<Bell> & Pick<Bell, 'job'>): Promise<void>
  /** Resolves once every bell was answered, except `active` that are being answered. */
  answered(active?: number): Promise<void>
  /** The queue forgets everything, as after FLUSHALL. */
  wipeQueue(): Promise<void>
  /** All slots, oldest first. */
  slots(): Promise<SlotRow[]>
  /** As if Ferry had been installed long ago. */
  installedLongAgo(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type SlotRow = {
  account: string
  schedule: string
  slot: Date
  attempts: number
  retry_at: Date | null
  done_at: Date | null
  outcome: string | null
}

/** A database, a queue and the means to work on them, all of them this test's own. */
export async function setup(
  kind: (typeof BACKENDS)[number],
  settings: Partial<JobSettings> & { accounts?: readonly string[] } = {},
): Promise<QueueRoom> {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await openTestDatabase())
  const redis = kind === 'redis' ? opened.use(await openTestRedis()) : null
  const backend = { databaseUrl: database.url, redisUrl: redis?.url ?? null }
  await migrateQueue(backend)
  const ferry = contextOf(settings, opened.use(openDatabase(database.url, SILENT)).pool)
  const { id } = await loadInstallation(ferry.pool)
  const open = () => openBackend({ ...backend, installation: id, log: ferry.log })
  const queue = openRawQueue({ ...backend, installation: id }, 'sync') as unknown as Queue<Bell>
  queue.on('error', () => {})
  opened.defer(() => queue.close())
  const workers = new Set<FerryWorker>()
  opened.defer(async () => {
    await Promise.all([...workers].map(worker => worker.drain(5_000)))
  })
  const kept = opened.move()
  return {
    ferry,
    backend,
    queue,
    async ringAgain(bell) {
      const data = { account: 'default', ...bell }
      await queue.add(bell.job, data, { removeOnComplete: true, removeOnFail: true })
    },
    async answered(active = 0) {
      const counts = () => queue.getJobCounts('waiting', 'active')
      const isSo = async () => JSON.stringify(await counts()) === JSON.stringify({ waiting: 0, active })
      await waitFor(isSo, { what: 'every bell to be answered' })
    },
    openBackend: open,
    async work(jobs) {
      const worker = await openWorker(ferry, open(), jobs)
      const tracked = { drain: (ms: number) => worker.drain(ms).finally(() => workers.delete(tracked)) }
      workers.add(tracked)
      return tracked
    },
    async wipeQueue() {
      if (redis) return flush(redis.url)
      const { rows } = await ferry.pool.query<{ name: string }>(
        `select tablename as name from pg_tables where schemaname = 'ferry_queue' and tablename <> 'migration'`,
      )
      // A worker that is at the queue just then may wait for it crosswise.
      await patiently(() =>
        ferry.pool.query(`truncate ${rows.map(row => `ferry_queue.${row.name}`).join(', ')}`),
      )
    },
    async slots() {
      return (await ferry.pool.query<SlotRow>('select * from ferry.schedule_slots order by slot')).rows
    },
    async installedLongAgo() {
      await ferry.pool.query(`update ferry.installation set created_at = now() - interval '30 days'`)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function flush(redisUrl: string): Promise<void> {
  const redis = new Redis(redisUrl)
  await redis.flushdb()
  await redis.quit()
}

const SILENT = pino({ level: process.env.FERRY_TEST_LOG_LEVEL ?? 'silent' })

/** Test jobs call no platform, so an account needs no more than its name. */
export function contextOf(
  { accounts = ['default'], ...settings }: Partial<JobSettings> & { accounts?: readonly string[] },
  pool: JobContext['pool'],
): JobContext {
  return {
    pool,
    accounts: new Map(accounts.map(name => [name, { name } as InventoryAccount & ImportAccount])),
    removalGuard: { rows: 10, share: 0.2 },
    limitWork: work => work(),
    holder: 'test',
    arrivalBoundMs: 5_000,
    requestTimeoutMs: 20_000,
    log: SILENT,
    pollEveryMs: 1_000,
    nightlyCron: '30 3 * * *',
    timezone: 'UTC',
    catchUpMs: 6 * 3_600_000,
    ...settings,
  }
}

/** A job that notes its calls and ends as `run` says; by default it succeeds at once. */
export function testJob(
  options: Partial<QueuedJob> & Pick<QueuedJob, 'timing'>,
): QueuedJob & { calls: JobCall[] } {
  const calls: JobCall[] = []
  const { run = async (): Promise<JobResult> => ({ status: 'succeeded' }), ...others } = options
  return {
    name: 'test-job',
    perAccount: true,
    retryAfterMs: [],
    skippedAgainAfterMs: null,
    ...others,
    calls,
    run(ferry, call, signal) {
      calls.push(call)
      return run(ferry, call, signal)
    },
  }
}

/** Every thousand days: no slot begins while a test runs. */
export const ONCE = { everyMs: 1_000 * 24 * 3_600_000 }

/** The reconciler, quick enough for a test. */
export const reconcileOften: WorkerJob = {
  name: 'reconcile',
  everyMs: 100,
  run: reconciler => reconciler.look(),
}

/** A cron time that was due so long ago, and is due again a day later; with the slot it names. */
export function dailyCron(agoMs: number): { cron: string; slot: Date } {
  const slot = new Date(Math.floor((Date.now() - agoMs) / 60_000) * 60_000)
  return { cron: `${slot.getUTCMinutes()} ${slot.getUTCHours()} * * *`, slot }
}

/** Runs until told otherwise: ends well when released, or throws the signal's reason once aborted. */
export function openGate(): { release(): void; pass(signal: AbortSignal): Promise<JobResult> } {
  const gate = Promise.withResolvers<JobResult>()
  return {
    release: () => gate.resolve({ status: 'succeeded' }),
    pass(signal) {
      const aborted = Promise.withResolvers<JobResult>()
      signal.addEventListener('abort', () => aborted.reject(signal.reason))
      return Promise.race([gate.promise, aborted.promise])
    },
  }
}
