import { describe, expect, test } from 'vitest'
import type { QueueBackend } from '#src/queue/backend.ts'
import { openWorker, type WorkerContext, type WorkerOptions } from '#src/worker/worker.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { IMPORTS, openImportQueueHarness, RECONCILED_IMPORTS } from './import-queue-harness.ts'
import {
  BACKENDS,
  contextOf,
  ONCE,
  openGate,
  openQueueHarness,
  reconcileOften,
  testJob,
  workOf,
} from './queue-harness.ts'

/** Far more than a few looks, however slow the machine. */
const SOON = { timeoutMs: 60_000 }

/** A worker of this test; it is drained at the end of the test at the latest. */
async function work(context: WorkerContext, backend: QueueBackend, options: WorkerOptions) {
  const worker = await openWorker(context, backend, options)
  let drained: Promise<void> | undefined
  const drain = (deadlineMs = 5_000) => {
    drained ??= worker.drain(deadlineMs)
    return drained
  }
  return { drain, [Symbol.asyncDispose]: () => drain() }
}

/** No wake-up reaches a worker of this queue: another worker is always faster. */
function neverFirst(backend: QueueBackend): QueueBackend {
  return {
    ...backend,
    openWorker(...args) {
      const worker = backend.openWorker(...args)
      const stopped = Promise.withResolvers<void>()
      return Object.assign(worker, { run: () => stopped.promise, pause: async () => stopped.resolve() })
    },
  }
}

describe.each(BACKENDS)('beside a worker of other accounts that takes every wake-up, on %s', kind => {
  test('a worker does what is due of its own account', async () => {
    await using harness = await openQueueHarness(kind, { accounts: ['east'] })
    const job = testJob({ timing: ONCE })
    const { pool } = harness.ferry
    const west = { ...contextOf({ accounts: ['west'] }, pool), holder: 'west' }
    const ofWest = testJob({ timing: ONCE })
    await using _other = await work(west, harness.openBackend(), workOf([ofWest]))
    await using _worker = await work(
      harness.ferry,
      neverFirst(harness.openBackend()),
      workOf([job], reconcileOften),
    )
    const isDone = async () => (await harness.slots())[0]?.done_at
    await waitFor(isDone, { ...SOON, what: 'the slot to be done' })
    await harness.processed()
    expect(await harness.slots()).toMatchObject([{ account: 'east', attempts: 1, outcome: 'succeeded' }])
    expect([job.calls.length, ofWest.calls.length]).toEqual([1, 0])
  })

  test('a worker sends the imports of its own account', async () => {
    await using harness = await openImportQueueHarness(kind)
    const id = await harness.stage({ rows: 12, batchRows: 1 })
    const west = { ...harness.ferry, accounts: new Map(), holder: 'west' }
    await using _other = await work(west, harness.backend, IMPORTS)
    await using _worker = await work(harness.ferry, neverFirst(harness.backend), RECONCILED_IMPORTS)
    const isDone = async () => (await harness.importRow(id)).status === 'completed'
    await waitFor(isDone, { ...SOON, what: 'the import to be completed' })
    expect(harness.timesDelivered()).toEqual({ once: 12 })
  })

  test('a worker that drains gives back what it began without a wake-up, and begins nothing more', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({ timing: ONCE, run: (_, __, cutOff) => openGate().pass(cutOff) })
    await using worker = await work(
      harness.ferry,
      neverFirst(harness.openBackend()),
      workOf([job], reconcileOften),
    )
    await waitFor(() => job.calls.length === 1, { ...SOON, what: 'the run' })
    await worker.drain(3_000)
    const [slot] = await harness.slots()
    expect(slot).toMatchObject({ attempts: 0, done_at: null })
    expect(slot!.retry_at!.getTime()).toBeLessThanOrEqual(Date.now())
    expect(job.calls).toHaveLength(1)
  })
})
