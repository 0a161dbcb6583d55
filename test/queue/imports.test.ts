import { describe, expect, test } from 'vitest'
import { createFindDue } from '#src/queue/due.ts'
import { ringImport } from '#src/queue/imports.ts'
import { createReconciler } from '#src/queue/reconcile.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { work } from '../jobs/setup.ts'
import { IMPORT_JOBS, openImportRoom, QUICK_JOBS } from './import-room.ts'
import { BACKENDS } from './setup.ts'

describe.each(BACKENDS)('imports on %s', kind => {
  test('begin as soon as they are rung for, and the bell holds nothing but the id', async () => {
    await using world = await openImportRoom(kind)
    const id = await world.stage({ rows: 20, batchRows: 5 })
    expect(await ringImport(world.backend, id)).toBe(true)
    expect((await world.queue.getJobs(['waiting'])).map(bell => bell.data)).toEqual([{ import: `${id}` }])
    await using _worker = await work(world.ferry, IMPORT_JOBS)
    await world.ended(id)
    expect(world.timesDelivered()).toEqual({ once: 20 })
  })

  test('begin within seconds though nobody rang, and each page in its turn', async () => {
    await using world = await openImportRoom(kind)
    const ids = [await world.stage({ rows: 5 }), await world.stage({ rows: 7 })]
    await using _worker = await work(world.ferry, QUICK_JOBS)
    for (const id of ids) await world.ended(id)
    expect(world.timesDelivered()).toEqual({ once: 7 })
  })

  test('go on when the queue was wiped', async () => {
    await using world = await openImportRoom(kind)
    const id = await world.stage({ rows: 30, batchRows: 1 })
    const second = await world.stage({ rows: 31, batchRows: 1 })
    await using _worker = await work(world.ferry, QUICK_JOBS)
    await waitFor(() => world.calls() > 3, { what: 'some calls' })
    await world.wipe()
    await world.ended(id)
    await world.ended(second)
    expect(world.timesDelivered()).toEqual({ once: 31 })
  })

  test('that are paused, undecided or cancelled are left alone', async () => {
    await using world = await openImportRoom(kind)
    for (const status of ['paused', 'undecided', 'cancelled', 'staging']) await world.stage({ status })
    const last = await world.stage({ rows: 1 })
    await using _worker = await work(world.ferry, QUICK_JOBS)
    await world.ended(last)
    expect(world.calls()).toBe(1)
  })

  test('are rung for no more often than there are of them, while nobody has a hand free', async () => {
    await using world = await openImportRoom(kind)
    world.sandbox.state.subscribers.addPage(1n)
    for (const pageId of [1n, SANDBOX_PAGE_ID]) {
      const id = await world.stage({ rows: 1, pageId })
      await world.queue.add('import-subscribers', { import: `${id}` })
    }
    const [syncQueue, importQueue] = [world.openQueue('sync'), world.openQueue('import')]
    const findDue = createFindDue(world.ferry, new Date())
    const reconciler = createReconciler(world.ferry, findDue, syncQueue, [], importQueue)
    await reconciler.look()
    expect(await world.queue.getWaitingCount()).toBe(2)
    await world.wipe()
    await reconciler.look()
    expect(await world.queue.getWaitingCount()).toBe(2)
  })

  test('more than a worker has hands for all go on', { timeout: 60_000 }, async () => {
    await using world = await openImportRoom(kind, { FERRY_IMPORT_LIMIT: '200/1s' })
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
