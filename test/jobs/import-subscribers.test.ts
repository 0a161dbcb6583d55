import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { ImportJob } from '#src/queue/job.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { IMPORT_JOBS, openImportRoom, QUICK_JOBS } from '../queue/import-room.ts'
import { BACKENDS, reconcileOften } from '../queue/setup.ts'
import { work } from './setup.ts'

describe.each(BACKENDS)('the work on an import, on %s,', kind => {
  test('goes on after any bell, however often it comes', async () => {
    await using world = await openImportRoom(kind)
    const id = await world.stage({ rows: 30, batchRows: 1 })
    await using _first = await work(world.ferry, QUICK_JOBS)
    await using _second = await work(await world.openFerry(), QUICK_JOBS)
    for (let again = 0; again < 10; again++) {
      await world.queue.add('import-subscribers', { import: `${id}` }, { removeOnComplete: true })
    }
    await world.ended(id)
    await world.queue.add('import-subscribers', { import: `${id}` }, { removeOnComplete: true })
    await world.queue.add('import-subscribers', { import: '999' }, { removeOnComplete: true })
    await world.answered()
    expect(world.timesDelivered()).toEqual({ once: 30 })
  })

  test('goes on within seconds of the lease when its worker was killed', { timeout: 60_000 }, async () => {
    await using world = await openImportRoom(kind)
    const id = await world.stage({ rows: 60, batchRows: 1 })
    await using lost = await world.startWorker()
    await waitFor(() => world.calls() > 10, { what: 'some calls', timeoutMs: 20_000 })
    lost.child.kill('SIGKILL')
    await once(lost.child, 'exit')
    const before = world.calls()
    await using _worker = await work(world.ferry, QUICK_JOBS)
    await waitFor(() => world.calls() > before, { what: 'the other worker', timeoutMs: 20_000 })
    await world.ended(id)
    const resent = (await world.batches(id)).filter(batch => batch.resends > 0)
    expect(resent.length).toBeLessThanOrEqual(4)
    const { once: sentOnce = 0, twice = 0 } = world.timesDelivered()
    expect(sentOnce + twice).toBe(60)
    expect(twice).toBeLessThanOrEqual(resent.length)
  })

  test('is given back by a worker that drains, and another goes on at once', async () => {
    await using world = await openImportRoom(kind)
    const id = await world.stage({ rows: 60, batchRows: 1 })
    const first = await work(world.ferry, QUICK_JOBS)
    await waitFor(() => world.calls() > 10, { what: 'some calls' })
    await first.drain(6_000)
    const before = world.calls()
    expect((await world.importRow(id)).accepted).toBe(before)
    expect(await world.query('select 1 from ferry.leases')).toEqual([])
    await using _second = await work(world.ferry, IMPORT_JOBS)
    await world.ended(id)
    expect(world.timesDelivered()).toEqual({ once: 60 })
  })

  test('is cut off by a drain that takes too long, and what was in flight is uncertain', async () => {
    await using world = await openImportRoom(kind, { FERRY_REQUEST_TIMEOUT: '20s' })
    const id = await world.stage({ rows: 4, batchRows: 1 })
    world.sandbox.state.inject({ kind: 'hang', applied: true }, { nth: 2 })
    const first = await work(world.ferry, QUICK_JOBS)
    await waitFor(async () => world.calls() === 4, { what: 'all calls' })
    const before = performance.now()
    await first.drain(2_400)
    expect(performance.now() - before).toBeLessThan(6_000)
    expect((await world.batches(id)).filter(batch => batch.uncertain)).toMatchObject([
      { state: 'ready', resends: 1 },
    ])
    await using _second = await work(world.ferry, QUICK_JOBS)
    await world.ended(id)
    expect(world.timesDelivered()).toEqual({ once: 3, twice: 1 })
  })

  test('is tried again when it broke', async () => {
    await using world = await openImportRoom(kind)
    const id = await world.stage({ rows: 3 })
    let attempts = 0
    const [real] = IMPORT_JOBS as [ImportJob]
    const breaking: ImportJob = {
      name: 'import-subscribers',
      async work(ferry, importId, signals) {
        if (++attempts < 3) throw new Error('broken')
        return real.work(ferry, importId, signals)
      },
    }
    await using _worker = await work(world.ferry, [breaking, reconcileOften])
    await world.ended(id)
    expect(attempts).toBeGreaterThanOrEqual(3)
  })

  test('is given up after ten failures, until a person resumes it', async () => {
    await using world = await openImportRoom(kind)
    const id = await world.stage({ rows: 3 })
    await world.query('update ferry.imports set failures = 9')
    world.sandbox.state.inject({ kind: 'error', code: 'ServiceUnavailable' }, { nth: 1 })
    await using _worker = await work(world.ferry, QUICK_JOBS)
    await world.ended(id, 'paused')
    await world.queue.add('import-subscribers', { import: `${id}` }, { removeOnComplete: true })
    await world.answered()
    expect(world.calls()).toBe(1)
    await world.query(`update ferry.imports set status = 'queued' where id = $1`, [id])
    await world.ended(id)
  })
})
