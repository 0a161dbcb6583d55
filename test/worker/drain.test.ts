import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { importSubscribers } from '#jobs/import-subscribers.ts'
import { loadInstallation } from '#src/db/installation.ts'
import { openBackend } from '#src/queue/backend.ts'
import { drain, openWorker } from '#src/worker/worker.ts'
import { waitFor } from '../support/wait-for.ts'
import {
  BACKENDS,
  ONCE,
  openGate,
  openQueueHarness,
  reconcileOften,
  testJob,
  workOf,
} from './queue-harness.ts'

test('what does not end in time is cut off in every queue, and the timer ends', async () => {
  const cutOff: string[] = []
  const consumers = ['sync', 'import'].map(name => {
    const work = Promise.withResolvers<void>()
    const underWay = new Set([work.promise])
    return {
      underWay,
      stop: () => work.promise,
      abort() {
        cutOff.push(name)
        underWay.clear()
        work.resolve()
      },
      close: async () => {},
    }
  })
  const timer = { stop: async () => void cutOff.push('timer') }
  await drain(consumers, timer, 120, pino({ level: 'silent' }))
  expect(cutOff).toEqual(['timer', 'sync', 'import'])
})

test('a queue that cannot be stopped ends nothing that is under way', async () => {
  const work = Promise.withResolvers<void>()
  const underWay = new Set([work.promise])
  const close = async () => {}
  const consumers = [
    { underWay, stop: async () => {}, abort() {}, close },
    { underWay: new Set<never>(), stop: () => Promise.reject(new Error('closed')), abort() {}, close },
  ]
  const drained = drain(consumers, null, 10_000, pino({ level: 'silent' }))
  await delay(50) // longer than Node leaves a rejection to whoever may still catch it
  underWay.clear()
  work.resolve()
  await drained
})

describe.each(BACKENDS)('a worker that drains, on %s', kind => {
  test('lets what is under way end, and takes nothing new', async () => {
    await using harness = await openQueueHarness(kind)
    const gate = openGate()
    const slow = testJob({ name: 'slow', timing: ONCE, run: (_, __, signal) => gate.pass(signal) })
    const other = testJob({ name: 'other', timing: ONCE })
    const worker = await harness.work([slow, other])
    await harness.wake({ job: 'slow' })
    await waitFor(() => slow.calls.length === 1, { what: 'the slow job' })

    const drained = worker.drain(20_000)
    await harness.wake({ job: 'other' })
    gate.release()
    await drained
    expect(await harness.slots()).toMatchObject([{ schedule: 'slow', outcome: 'succeeded' }])
    expect(await harness.queue.getJobCounts('waiting', 'active')).toEqual({ waiting: 1, active: 0 })
  })

  test('gives back what does not end in time, spends no attempt, and another worker goes on at once', async () => {
    await using harness = await openQueueHarness(kind)
    const gate = openGate()
    const job = testJob({ timing: ONCE, run: (_, __, signal) => gate.pass(signal) })
    const first = await harness.work([job])
    await harness.wake({ job: job.name })
    await waitFor(() => job.calls.length === 1, { what: 'the run' })

    // The run would never end by itself.
    await first.drain(3_000)
    const [slot] = await harness.slots()
    expect(slot).toMatchObject({ attempts: 0, done_at: null })
    expect(slot!.retry_at!.getTime()).toBeLessThanOrEqual(Date.now())

    gate.release()
    await harness.work([job])
    await waitFor(() => job.calls.length === 2, { what: 'the other worker' })
    await harness.processed()
    expect(await harness.slots()).toMatchObject([{ slot: slot!.slot, attempts: 1, outcome: 'succeeded' }])
  })

  test('logs nothing of a queue that does not answer', async () => {
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: line => lines.push(line) })
    await using harness = await openQueueHarness(kind, {})
    const { id } = await loadInstallation(harness.ferry.pool)
    const backend = openBackend({ ...harness.backend, installation: id, log })
    const { jobs, ...work } = workOf([testJob({ timing: ONCE })])
    const worker = await openWorker({ ...harness.ferry, log }, backend, {
      ...work,
      jobs: [...jobs, importSubscribers],
    })
    await harness.wake({ job: 'test-job' })
    await harness.processed()
    await worker.drain(5_000)
    expect(lines).toEqual([])
  })

  test('keeps what a job stored even though it was cut off', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({
      timing: ONCE,
      run: (_, __, signal) =>
        new Promise(resolve => signal.addEventListener('abort', () => resolve({ status: 'succeeded' }))),
    })
    const worker = await harness.work([job], reconcileOften)
    await waitFor(() => job.calls.length === 1, { what: 'the run' })
    await worker.drain(3_000)
    expect(await harness.slots()).toMatchObject([{ attempts: 1, outcome: 'succeeded' }])
  })
})
