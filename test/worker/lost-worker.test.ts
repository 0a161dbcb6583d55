import { describe, expect, test } from 'vitest'
import { leasesOf } from '#test/support/leases.ts'
import { waitFor } from '../support/wait-for.ts'
import { BACKENDS, ONCE, openGate, openQueueHarness, reconcileOften, testJob } from './queue-harness.ts'
import { startScriptedWorker } from './start-scripted-worker.ts'

const timing = ONCE

/** After a kill, the slot is held for so long at most. */
const HELD_MS = 18_000

describe.concurrent.each(BACKENDS)('a worker that is lost, on %s', kind => {
  test('leaves its slot to another once its lease is over when it was killed', async () => {
    await using harness = await openQueueHarness(kind)
    await using lost = await startScriptedWorker({ ...harness.backend, timing, drainMs: 1_000 })
    await lost.wrote('begun')
    lost.kill('SIGKILL')
    const killedAt = Date.now()
    const [lease] = await leasesOf(harness.ferry.pool)
    expect(lease!.expiresAt.getTime()).toBeLessThanOrEqual(killedAt + HELD_MS)

    const job = testJob({ timing: timing })
    await harness.work([job], reconcileOften)
    await waitFor(() => job.calls.length === 1, { what: 'the other worker' })
    await waitFor(async () => (await harness.slots())[0]?.done_at, { what: 'the slot to be done' })
    expect(await harness.slots()).toMatchObject([{ attempts: 2, outcome: 'succeeded' }])
  })

  test('does not disturb the worker that took its slot, when it was only suspended', async () => {
    await using harness = await openQueueHarness(kind)
    await using suspended = await startScriptedWorker({ ...harness.backend, timing, drainMs: 1_000 })
    await suspended.wrote('begun')
    suspended.kill('SIGSTOP')

    const gate = openGate()
    const job = testJob({ timing: timing, run: (_, __, signal) => gate.pass(signal) })
    await harness.work([job], reconcileOften)
    await waitFor(() => job.calls.length === 1, { what: 'the other worker' })
    suspended.kill('SIGCONT')
    await suspended.wrote('aborted')
    suspended.kill('SIGTERM')
    await suspended.wrote('drained')
    expect(await harness.slots()).toMatchObject([{ attempts: 2, done_at: null }])
    expect(await leasesOf(harness.ferry.pool)).toMatchObject([{ isOver: false }])

    gate.release()
    await waitFor(async () => (await harness.slots())[0]?.done_at, { what: 'the slot to be done' })
    expect(await harness.slots()).toMatchObject([{ attempts: 2, outcome: 'succeeded' }])
  })
})
