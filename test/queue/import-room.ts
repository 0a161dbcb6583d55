import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { JOBS } from '#jobs/index.ts'
import { migrateQueue, openBackend, openRawQueue, type QueueName } from '#src/queue/backend.ts'
import type { ImportBell } from '#src/queue/job.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { openTestRedis } from '#test/support/redis.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { setup as openImports } from '../imports/import-world.ts'
import { type BACKENDS, reconcileOften } from './setup.ts'

const WORKER = fileURLToPath(new URL('../support/import-process.ts', import.meta.url))

export const IMPORT_JOBS = JOBS.filter(job => job.name === 'import-subscribers')

/** The same with a reconciler quick enough for a test. */
export const QUICK_JOBS = [...IMPORT_JOBS, reconcileOften]

/** A database and a queue of their own, a sandbox, and Ferry between them. */
export async function openImportRoom(kind: (typeof BACKENDS)[number], env: Record<string, string> = {}) {
  await using opened = new AsyncDisposableStack()
  const redis = kind === 'redis' ? opened.use(await openTestRedis()) : null
  const settings: Record<string, string> = redis ? { REDIS_URL: redis.url, ...env } : env
  const world = opened.use(await openImports({ answerMs: 30 }, settings))
  await migrateQueue(world.ferry.backend)
  const { id } = await loadInstallation(world.ferry.pool)
  const queueSettings = { ...world.ferry.backend, installation: id, log: world.ferry.log }
  const backend = openBackend(queueSettings)
  const queue = openRawQueue(queueSettings, 'import') as unknown as Queue<ImportBell>
  queue.on('error', () => {})
  opened.defer(() => queue.close())
  const kept = opened.move()
  return {
    ...world,
    backend,
    queue,
    async ended(importId: bigint, status = 'completed') {
      const isOver = async () => (await world.importRow(importId)).status === status
      await waitFor(isOver, { what: `import ${importId} to be ${status}`, timeoutMs: 25_000 })
    },
    /** A queue as a worker uses it. */
    openQueue<Name extends QueueName>(name: Name) {
      const producer = backend.openQueue(name)
      kept.defer(() => producer.close())
      return producer
    },
    /** Resolves once every bell was answered. */
    async answered() {
      const counts = () => queue.getJobCounts('waiting', 'active')
      const isSo = async () => Object.values(await counts()).every(count => count === 0)
      await waitFor(isSo, { what: 'every bell to be answered' })
    },
    async wipe() {
      if (redis) {
        const connection = new Redis(redis.url)
        await connection.flushdb()
        await connection.quit()
        return
      }
      const tables = await world.query<{ name: string }>(
        `select tablename as name from pg_tables where schemaname = 'ferry_queue' and tablename <> 'migration'`,
      )
      await world.query(`truncate ${tables.map(table => `ferry_queue.${table.name}`).join(', ')}`)
    },
    async startWorker() {
      const child = fork(WORKER, [
        JSON.stringify({
          DATABASE_URL: world.databaseUrl,
          FERRY_BASE_URL: world.sandbox.baseUrl,
          FERRY_APP_KEY: world.sandbox.appKey,
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
