import { describe, expect, test } from 'vitest'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { DueFinder } from '#src/schedules/find-due.ts'
import { Reconciler } from '#src/worker/reconcile.ts'
import { enqueueImport } from '#src/worker/wake-ups.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { startWorker } from '../jobs/start-worker.ts'
import { IMPORTS, openImportQueueHarness, RECONCILED_IMPORTS } from './import-queue-harness.ts'
import { BACKENDS } from './queue-harness.ts'

describe.each(BACKENDS)('imports on %s', kind => {
  test('begin as soon as a wake-up comes, which holds nothing but the id', async () => {
    await using harness = await openImportQueueHarness(kind)
    const id = await harness.stage({ rows: 20, batchRows: 5 })
    expect(await enqueueImport(harness.openQueue('import'), id)).toBe(true)
    expect((await harness.queue.getJobs(['waiting'])).map(job => job.data)).toEqual([{ import: `${id}` }])
    await using _worker = await startWorker(harness.ferry, IMPORTS)
    await harness.ended(id)
    expect(harness.timesDelivered()).toEqual({ once: 20 })
  })

  test('begin within seconds without a wake-up, and each page in its turn', async () => {
    await using harness = await openImportQueueHarness(kind)
    const ids = [await harness.stage({ rows: 5 }), await harness.stage({ rows: 7 })]
    await using _worker = await startWorker(harness.ferry, RECONCILED_IMPORTS)
    for (const id of ids) await harness.ended(id)
    expect(harness.timesDelivered()).toEqual({ once: 7 })
  })

  test('go on when the queue was wiped', async () => {
    await using harness = await openImportQueueHarness(kind)
    const id = await harness.stage({ rows: 30, batchRows: 1 })
    const second = await harness.stage({ rows: 31, batchRows: 1 })
    await using _worker = await startWorker(harness.ferry, RECONCILED_IMPORTS)
    await waitFor(() => harness.calls() > 3, { what: 'some calls' })
    await harness.wipe()
    await harness.ended(id)
    await harness.ended(second)
    expect(harness.timesDelivered()).toEqual({ once: 31 })
  })

  test('end after the call in flight when their worker drains, however much time it has', async () => {
    await using harness = await openImportQueueHarness(kind, { FERRY_IMPORT_LIMIT: '2/1s' })
    const id = await harness.stage({ rows: 40, batchRows: 1 })
    await using worker = await startWorker(harness.ferry, RECONCILED_IMPORTS)
    await waitFor(() => harness.calls() > 0, { what: 'the first call' })
    await worker.drain(240_000)
    expect(await harness.importRow(id)).toMatchObject({ status: 'running', uncertain: 0 })
    expect(harness.calls()).toBeLessThan(40)
  })

  test('that are paused, undecided or cancelled are left alone', async () => {
    await using harness = await openImportQueueHarness(kind)
    for (const status of ['paused', 'undecided', 'cancelled', 'staging'] as const) {
      await harness.stage({ status, pageId: 1n })
    }
    const last = await harness.stage({ rows: 1 })
    await using _worker = await startWorker(harness.ferry, RECONCILED_IMPORTS)
    await harness.ended(last)
    expect(harness.calls()).toBe(1)
  })

  test('are enqueued no more often than there are of them, while no worker has capacity', async () => {
    await using harness = await openImportQueueHarness(kind)
    harness.sandbox.state.subscribers.addPage(1n)
    for (const pageId of [1n, SANDBOX_PAGE_ID]) {
      const id = await harness.stage({ rows: 1, pageId })
      await harness.queue.add('import-subscribers', { import: `${id}` })
    }
    const producers = { sync: harness.openQueue('sync'), import: harness.openQueue('import') }
    const consumer = { processHere() {} }
    const queues = { producers, consumers: { sync: consumer, import: consumer } }
    const dueFinder = new DueFinder({ ...harness.ferry, installedAt: new Date() })
    const reconciler = new Reconciler(harness.ferry, dueFinder, queues, [])
    await reconciler.look()
    expect(await harness.queue.getWaitingCount()).toBe(2)
    await harness.wipe()
    await reconciler.look()
    expect(await harness.queue.getWaitingCount()).toBe(2)
  })

  test('more than a worker has capacity for all go on', async () => {
    await using harness = await openImportQueueHarness(kind, { FERRY_IMPORT_LIMIT: '200/1s' })
    const ids: bigint[] = []
    for (let page = 0n; page < 7n; page++) {
      harness.sandbox.state.subscribers.addPage(page)
      ids.push(await harness.stage({ rows: 60, batchRows: 1, pageId: page }))
    }
    await using _worker = await startWorker(harness.ferry, RECONCILED_IMPORTS)
    for (const id of ids) await harness.ended(id)
    const { rows } = await harness.ferry.pool.query(
      `select (select min(finished_at) from ferry.imports) > max(first) as every_import_began_before_one_ended
       from (select min(sent_at) as first from ferry.import_batches group by import_id) begun`,
    )
    expect(rows).toEqual([{ every_import_began_before_one_ended: true }])
    for (let page = 0n; page < 7n; page++) expect(harness.timesDelivered(page)).toEqual({ once: 60 })
  })
})
