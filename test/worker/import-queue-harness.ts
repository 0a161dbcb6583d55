import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Queue } from 'bullmq'
import { importSubscribers } from '#jobs/import-subscribers.ts'
import { loadInstallation } from '#src/db/installation.ts'
import { migrateQueue, openBackend, openRawQueue } from '#src/queue/backend.ts'
import type { ImportWakeUp, QueueName } from '#src/queue/messages.ts'
import type { WorkerOptions } from '#src/worker/worker.ts'
import { openTestRedis } from '#test/support/redis.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { wipeQueue } from '#test/support/wipe-queue.ts'
import { openImportHarness } from '../imports/import-harness.ts'
import { type BACKENDS, reconcileNever, reconcileOften } from './queue-harness.ts'

const WORKER = fileURLToPath(new URL('../support/import-process.ts', import.meta.url))

/** Imports and nothing else, if a wake-up comes. */
export const IMPORTS: WorkerOptions = { jobs: [importSubscribers], schedules: [], ...reconcileNever }

/** The same with a reconciler quick enough for a test. */
export const RECONCILED_IMPORTS: WorkerOptions = { ...IMPORTS, ...reconcileOften }

/** A database and a queue of their own, a sandbox, and Ferry between them. */
export async function openImportQueueHarness(
  kind: (typeof BACKENDS)[number],
  env: Record<string, string> = {},
) {
  await using opened = new AsyncDisposableStack()
  const redis = kind === 'redis' ? opened.use(await openTestRedis()) : null
  const settings: Record<string, string> = redis ? { REDIS_URL: redis.url, ...env } : env
  const harness = opened.use(await openImportHarness({ answerMs: 30 }, settings))
  await migrateQueue(harness.ferry.backend)
  const { id } = await loadInstallation(harness.ferry.pool)
  const queueSettings = { ...harness.ferry.backend, installation: id, log: harness.ferry.log }
  const backend = openBackend(queueSettings)
  const queue = openRawQueue(queueSettings, 'import') as unknown as Queue<ImportWakeUp>
  queue.on('error', () => {})
  opened.defer(() => queue.close())
  const kept = opened.move()
  return {
    ...harness,
    backend,
    queue,
    async ended(importId: bigint, status = 'completed') {
      const isOver = async () => (await harness.importRow(importId)).status === status
      await waitFor(isOver, { what: `import ${importId} to be ${status}` })
    },
    /** A queue as a worker uses it. */
    openQueue<Name extends QueueName>(name: Name) {
      const producer = backend.openQueue(name)
      kept.defer(() => producer.close())
      return producer
    },
    /** Resolves once every wake-up was processed. */
    async processed() {
      const counts = () => queue.getJobCounts('waiting', 'active')
      const isSo = async () => Object.values(await counts()).every(count => count === 0)
      await waitFor(isSo, { what: 'every wake-up to be processed' })
    },
    wipe: () => wipeQueue(harness.ferry.pool, redis?.url),
    async startWorker() {
      const child = fork(WORKER, [
        JSON.stringify({
          DATABASE_URL: harness.databaseUrl,
          FERRY_BASE_URL: harness.sandbox.baseUrl,
          FERRY_APP_KEY: harness.sandbox.appKey,
          FERRY_IMPORT_LIMIT: '50/1s',
          FERRY_ARRIVAL_BOUND: '500ms',
          FERRY_REQUEST_TIMEOUT: '1s',
          FERRY_POLL_EVERY: '500h',
          ...settings,
        }),
      ])
      await once(child, 'message')
      child.send('go')
      return {
        child,
        async [Symbol.asyncDispose]() {
          if (child.exitCode !== null || child.signalCode !== null) return
          child.kill('SIGKILL')
          await once(child, 'exit')
        },
      }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
