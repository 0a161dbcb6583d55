import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { JOBS } from '#jobs/index.ts'
import { openBackend } from '#src/queue/backend.ts'
import { isImportJob } from '#src/queue/job.ts'
import { openWorker } from '#src/queue/worker.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { waitFor } from '../support/wait-for.ts'
import { BACKENDS, ONCE, openGate, reconcileOften, setup, testJob } from './setup.ts'

const once = () => ONCE

describe.each(BACKENDS)('a worker that drains, on %s', kind => {
  test('lets what is under way end, and takes nothing new', async () => {
    await using room = await setup(kind)
    const gate = openGate()
    const slow = testJob({ name: 'slow', timing: once, run: (_, __, signal) => gate.pass(signal) })
    const other = testJob({ name: 'other', timing: once })
    const worker = await room.work([slow, other])
    await room.ringAgain({ job: 'slow' })
    await waitFor(() => slow.calls.length === 1, { what: 'the slow job' })

    const drained = worker.drain(20_000)
    await room.ringAgain({ job: 'other' })
    gate.release()
    await drained
    expect(await room.slots()).toMatchObject([{ schedule: 'slow', outcome: 'succeeded' }])
    expect(await room.queue.getJobCounts('waiting', 'active')).toEqual({ waiting: 1, active: 0 })
  })

  test('gives back what does not end in time, spends no attempt, and another worker goes on at once', async () => {
    await using room = await setup(kind)
    const gate = openGate()
    const job = testJob({ timing: once, run: (_, __, signal) => gate.pass(signal) })
    const first = await room.work([job])
    await room.ringAgain({ job: job.name })
    await waitFor(() => job.calls.length === 1, { what: 'the run' })

    const before = performance.now()
    await first.drain(3_000)
    expect(performance.now() - before).toBeLessThan(3_500)
    const [slot] = await room.slots()
    expect(slot).toMatchObject({ attempts: 0, done_at: null })
    expect(slot!.retry_at!.getTime()).toBeLessThanOrEqual(Date.now())

    gate.release()
    await room.work([job])
    await waitFor(() => job.calls.length === 2, { what: 'the other worker', timeoutMs: 2_000 })
    await room.answered()
    expect(await room.slots()).toMatchObject([{ slot: slot!.slot, attempts: 1, outcome: 'succeeded' }])
  })

  test('says nothing of a queue that is away', async () => {
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: line => lines.push(line) })
    await using room = await setup(kind, {})
    const { id } = await loadInstallation(room.ferry.pool)
    const backend = openBackend({ ...room.backend, installation: id, log })
    const importJob = { ...JOBS.find(isImportJob)! }
    const worker = await openWorker({ ...room.ferry, log }, backend, [testJob({ timing: once }), importJob])
    await room.ringAgain({ job: 'test-job' })
    await room.answered()
    await worker.drain(5_000)
    expect(lines).toEqual([])
  })

  test('keeps what a job achieved even though it was told to stop', async () => {
    await using room = await setup(kind)
    const job = testJob({
      timing: once,
      run: (_, __, signal) =>
        new Promise(resolve => signal.addEventListener('abort', () => resolve({ status: 'succeeded' }))),
    })
    const worker = await room.work([job, reconcileOften])
    await waitFor(() => job.calls.length === 1, { what: 'the run' })
    await worker.drain(3_000)
    expect(await room.slots()).toMatchObject([{ attempts: 1, outcome: 'succeeded' }])
  })
})
