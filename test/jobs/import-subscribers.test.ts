import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { importSubscribers } from '#jobs/import-subscribers.ts'
import type { Job } from '#jobs/job.ts'
import { resumeImport } from '#src/imports/control/decide.ts'
import { leaseNameOf } from '#src/imports/page.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { holdLease, leasesOf } from '#test/support/leases.ts'
import { sendBatches, UNAVAILABLE } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { IMPORTS, openImportQueueHarness, RECONCILED_IMPORTS } from '../worker/import-queue-harness.ts'
import { BACKENDS } from '../worker/queue-harness.ts'
import { startWorker } from './start-worker.ts'

const NEVER = new AbortController().signal

test('an import whose page another worker has is skipped, so that its end is not told and nothing is enqueued for it', async () => {
  await using harness = await openFerryHarness()
  const { ferry } = harness
  const id = await stageRows(ferry.pool)
  await holdLease(ferry.pool, leaseNameOf({ account: 'default', pageId: SANDBOX_PAGE_ID, method: 'email' }))
  const signals = { signal: NEVER, cutOff: NEVER }
  expect(await importSubscribers.run(ferry, { import: `${id}` }, signals)).toEqual({ status: 'skipped' })
})

describe.each(BACKENDS)('the work on an import, on %s,', kind => {
  test('goes on after any wake-up, however often it comes', async () => {
    await using harness = await openImportQueueHarness(kind)
    const id = await harness.stage({ rows: 30, batchRows: 1 })
    await using _first = await startWorker(harness.ferry, RECONCILED_IMPORTS)
    await using _second = await startWorker(await harness.openFerry(), RECONCILED_IMPORTS)
    for (let again = 0; again < 10; again++) {
      await harness.queue.add('import-subscribers', { import: `${id}` }, { removeOnComplete: true })
    }
    await harness.ended(id)
    await harness.queue.add('import-subscribers', { import: `${id}` }, { removeOnComplete: true })
    await harness.queue.add('import-subscribers', { import: '999' }, { removeOnComplete: true })
    await harness.processed()
    expect(harness.timesDelivered()).toEqual({ once: 30 })
  })

  test('goes on within seconds of the lease when its worker was killed', async () => {
    await using harness = await openImportQueueHarness(kind)
    const id = await harness.stage({ rows: 60, batchRows: 1 })
    await using lost = await harness.startWorker()
    await waitFor(() => harness.calls() > 10, { what: 'some calls' })
    lost.child.kill('SIGKILL')
    await once(lost.child, 'exit')
    const before = harness.calls()
    await using _worker = await startWorker(harness.ferry, RECONCILED_IMPORTS)
    await waitFor(() => harness.calls() > before, { what: 'the other worker' })
    await harness.ended(id)
    const resent = (await harness.batches(id)).filter(batch => batch.resends > 0)
    expect(resent.length).toBeLessThanOrEqual(4)
    const { once: sentOnce = 0, twice = 0 } = harness.timesDelivered()
    expect(sentOnce + twice).toBe(60)
    expect(twice).toBeLessThanOrEqual(resent.length)
  })

  test('is given back by a worker that drains, and another goes on at once', async () => {
    await using harness = await openImportQueueHarness(kind)
    const id = await harness.stage({ rows: 60, batchRows: 1 })
    const first = await startWorker(harness.ferry, RECONCILED_IMPORTS)
    await waitFor(() => harness.calls() > 10, { what: 'some calls' })
    await first.drain(6_000)
    const before = harness.calls()
    expect((await harness.importRow(id)).accepted).toBe(before)
    expect(await leasesOf(harness.ferry.pool)).toEqual([])
    await using _second = await startWorker(harness.ferry, IMPORTS)
    await harness.ended(id)
    expect(harness.timesDelivered()).toEqual({ once: 60 })
  })

  test('is cut off by a drain that takes too long, and what was in flight is uncertain', async () => {
    await using harness = await openImportQueueHarness(kind, { FERRY_REQUEST_TIMEOUT: '10m' })
    const id = await harness.stage({ rows: 4, batchRows: 1 })
    harness.sandbox.state.inject({ kind: 'hang', applied: true }, { nth: 2 })
    const first = await startWorker(harness.ferry, RECONCILED_IMPORTS)
    await waitFor(async () => harness.calls() === 4, { what: 'all calls' })
    // Long before the call that hangs would have timed out.
    const before = performance.now()
    await first.drain(2_400)
    expect(performance.now() - before).toBeLessThan(60_000)
    expect((await harness.batches(id)).filter(batch => batch.uncertain)).toMatchObject([
      { state: 'ready', resends: 1 },
    ])
    await using _second = await startWorker(harness.ferry, RECONCILED_IMPORTS)
    await harness.ended(id)
    expect(harness.timesDelivered()).toEqual({ once: 3, twice: 1 })
  })

  test('is tried again when it broke', async () => {
    await using harness = await openImportQueueHarness(kind)
    const id = await harness.stage({ rows: 3 })
    let attempts = 0
    const breaking: Job = {
      name: importSubscribers.name,
      async run(...args) {
        if (++attempts < 3) throw new Error('broken')
        return importSubscribers.run(...args)
      },
    }
    await using _worker = await startWorker(harness.ferry, { ...RECONCILED_IMPORTS, jobs: [breaking] })
    await harness.ended(id)
    expect(attempts).toBeGreaterThanOrEqual(3)
  })

  test('is given up after ten failures, until a person resumes it', async () => {
    await using harness = await openImportQueueHarness(kind)
    const id = await harness.stage({ rows: 3 })
    await sendBatches(harness.ferry.pool, id, Array(9).fill(UNAVAILABLE))
    await ageImport(harness.ferry.pool, id, '1 hour')
    harness.sandbox.state.inject({ kind: 'error', code: 'ServiceUnavailable' }, { nth: 1 })
    await using _worker = await startWorker(harness.ferry, RECONCILED_IMPORTS)
    await harness.ended(id, 'paused')
    await harness.queue.add('import-subscribers', { import: `${id}` }, { removeOnComplete: true })
    await harness.processed()
    expect(harness.calls()).toBe(1)
    await resumeImport(harness.ferry.pool, id, ADA)
    await harness.ended(id)
  })
})
