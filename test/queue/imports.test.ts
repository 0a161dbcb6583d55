import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { JOBS } from '#jobs/index.ts'
import type { WorkEnd } from '#src/imports/work.ts'
import { migrateQueue, openBackend } from '#src/queue/backend.ts'
import { ringImport } from '#src/queue/imports.ts'
import type { ImportBell, ImportJob } from '#src/queue/job.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { openTestRedis } from '#test/support/redis.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { setup as openImports } from '../imports/import-world.ts'
import { work } from '../jobs/setup.ts'
import { BACKENDS, reconcileOften } from './setup.ts'

const WORKER = fileURLToPath(new URL('../support/import-process.ts', import.meta.url))

/** Jobs as they are, but with a reconciler quick enough for a test, and nothing of inventories. */
const QUICK_JOBS = [...JOBS.filter(job => job.name === 'import-subscribers'), reconcileOften]
const WITHOUT_RECONCILER = JOBS.filter(job => job.name === 'import-subscribers')

describe.each(BACKENDS)('imports on %s', kind => {
  /** A database and a queue of their own, a sandbox, and Ferry between them. */
  async function setup(env: Record<string, string> = {}) {
    await using opened = new AsyncDisposableStack()
    const redis = kind === 'redis' ? opened.use(await openTestRedis()) : null
    const settings: Record<string, string> = redis ? { REDIS_URL: redis.url, ...env } : env
    const world = opened.use(await openImports({ answerMs: 30 }, settings))
    await migrateQueue(world.ferry.backend)
    const { id } = await loadInstallation(world.ferry.pool)
    const backend = await openBackend({ ...world.ferry.backend, installation: id, log: world.ferry.log })
    const queue = backend.openQueue('import') as unknown as Queue<ImportBell>
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

  test('begin as soon as they are rung for, and the bell holds nothing but the id', async () => {
    await using world = await setup()
    const id = await world.stage({ rows: 20, batchRows: 5 })
    expect(await ringImport(world.backend, id)).toBe(true)
    expect((await world.queue.getJobs(['waiting'])).map(bell => bell.data)).toEqual([{ import: `${id}` }])
    await using _worker = await work(world.ferry, WITHOUT_RECONCILER)
    await world.ended(id)
    expect(world.timesDelivered()).toEqual({ once: 20 })
  })

  test('begin within seconds though nobody rang, and each page in its turn', async () => {
    await using world = await setup()
    const ids = [await world.stage({ rows: 5 }), await world.stage({ rows: 7 })]
    await using _worker = await work(world.ferry, QUICK_JOBS)
    for (const id of ids) await world.ended(id)
    expect(world.timesDelivered()).toEqual({ once: 7 })
  })

  test('go on after any bell, however often it comes', async () => {
    await using world = await setup()
    const id = await world.stage({ rows: 30, batchRows: 1 })
    await using _first = await work(world.ferry, QUICK_JOBS)
    await using _second = await work(await world.openFerry(), QUICK_JOBS)
    for (let again = 0; again < 10; again++) {
      await world.queue.add('import-subscribers', { import: `${id}` }, { removeOnComplete: true })
    }
    await world.ended(id)
    await world.queue.add('import-subscribers', { import: `${id}` }, { removeOnComplete: true })
    await world.queue.add('import-subscribers', { import: '999' }, { removeOnComplete: true })
    await waitFor(async () => (await world.queue.getJobCounts('waiting', 'active')).waiting === 0, {
      what: 'the bells',
    })
    expect(world.timesDelivered()).toEqual({ once: 30 })
  })

  test('go on when the queue was wiped', async () => {
    await using world = await setup()
    const id = await world.stage({ rows: 30, batchRows: 1 })
    const second = await world.stage({ rows: 31, batchRows: 1 })
    await using _worker = await work(world.ferry, QUICK_JOBS)
    await waitFor(() => world.calls() > 3, { what: 'some calls' })
    await world.wipe()
    await world.ended(id)
    await world.ended(second)
    expect(world.timesDelivered()).toEqual({ once: 31 })
  })

  test('go on within seconds of the lease when their worker was killed', { timeout: 60_000 }, async () => {
    await using world = await setup()
    const id = await world.stage({ rows: 60, batchRows: 1 })
    await using lost = await world.startWorker()
    await waitFor(() => world.calls() > 10, { what: 'some calls', timeoutMs: 20_000 })
    lost.child.kill('SIGKILL')
    await once(lost.child, 'exit')
    const killedAt = performance.now()
    const before = world.calls()
    await using _worker = await work(world.ferry, QUICK_JOBS)
    await waitFor(() => world.calls() > before, { what: 'the other worker', timeoutMs: 20_000 })
    expect(performance.now() - killedAt).toBeLessThan(9_000)
    await world.ended(id)
    const resent = (await world.batches(id)).filter(batch => batch.resends > 0)
    expect(resent.length).toBeLessThanOrEqual(4)
    const { once: sentOnce = 0, twice = 0 } = world.timesDelivered()
    expect(sentOnce + twice).toBe(60)
    expect(twice).toBeLessThanOrEqual(resent.length)
  })

  test('are given back by a worker that drains, and another goes on at once', async () => {
    await using world = await setup()
    const id = await world.stage({ rows: 60, batchRows: 1 })
    const first = await work(world.ferry, QUICK_JOBS)
    await waitFor(() => world.calls() > 10, { what: 'some calls' })
    await first.drain(6_000)
    const before = world.calls()
    expect((await world.importRow(id)).accepted).toBe(before)
    expect(await world.query('select 1 from ferry.leases')).toEqual([])
    await using _second = await work(world.ferry, WITHOUT_RECONCILER)
    await world.ended(id)
    expect(world.timesDelivered()).toEqual({ once: 60 })
  })

  test('are cut off by a drain that takes too long, and what was in flight is uncertain', async () => {
    await using world = await setup({ FERRY_REQUEST_TIMEOUT: '20s' })
    const id = await world.stage({ rows: 4, batchRows: 1 })
    world.sandbox.state.inject({ kind: 'hang', applied: true }, { nth: 2 })
    const first = await work(world.ferry, QUICK_JOBS)
    await waitFor(async () => world.calls() === 4, { what: 'all calls' })
    const before = performance.now()
    await first.drain(2_400)
    expect(performance.now() - before).toBeLessThan(3_000)
    expect((await world.batches(id)).filter(batch => batch.uncertain)).toMatchObject([
      { state: 'ready', resends: 1 },
    ])
    await using _second = await work(world.ferry, QUICK_JOBS)
    await world.ended(id)
    expect(world.timesDelivered()).toEqual({ once: 3, twice: 1 })
  })

  test('that broke are tried again', async () => {
    await using world = await setup()
    const id = await world.stage({ rows: 3 })
    const ends: (WorkEnd | 'broken')[] = []
    const [real] = WITHOUT_RECONCILER as [ImportJob]
    const breaking: ImportJob = {
      name: 'import-subscribers',
      async work(ferry, importId, signals) {
        if (ends.push('broken') < 3) throw new Error('broken')
        return real.work(ferry, importId, signals)
      },
    }
    await using _worker = await work(world.ferry, [breaking, reconcileOften])
    await world.ended(id)
    expect(ends.length).toBeGreaterThanOrEqual(3)
  })

  test('that are paused, undecided or cancelled are left alone', async () => {
    await using world = await setup()
    for (const status of ['paused', 'undecided', 'cancelled', 'staging']) await world.stage({ status })
    const last = await world.stage({ rows: 1 })
    await using _worker = await work(world.ferry, QUICK_JOBS)
    await world.ended(last)
    expect(world.calls()).toBe(1)
  })

  test('more than a worker has hands for all go on', { timeout: 60_000 }, async () => {
    await using world = await setup({ FERRY_IMPORT_LIMIT: '200/1s' })
    const ids: bigint[] = []
    for (let page = 0n; page < 7n; page++) {
      world.sandbox.state.subscribers.addPage(page)
      ids.push(await world.stage({ rows: 60, batchRows: 1, pageId: page }))
    }
    await using _worker = await work(world.ferry, QUICK_JOBS)
    const served = async () =>
      (await Promise.all(ids.map(id => world.importRow(id)))).map(row => row.accepted)
    await waitFor(async () => Math.min(...(await served())) > 0, {
      what: 'every import to be served',
      timeoutMs: 20_000,
    })
    expect(Math.max(...(await served()))).toBeLessThan(60)
    for (const id of ids) await world.ended(id)
    for (let page = 0n; page < 7n; page++) expect(world.timesDelivered(page)).toEqual({ once: 60 })
  })
})
