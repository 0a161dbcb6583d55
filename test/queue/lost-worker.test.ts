import { describe, expect, test } from 'vitest'
import { waitFor } from '../support/wait-for.ts'
import { BACKENDS, ONCE, openGate, reconcileOften, setup, testJob } from './setup.ts'
import { startStandIn } from './start-stand-in.ts'

const timing = ONCE

/** After a kill, the slot is held for 18 s at most. */
const HELD_MS = 18_000
const LOOK_MS = 3_000

describe.each(BACKENDS)('a worker that is lost, on %s', kind => {
  test('leaves its slot to another within seconds when it was killed', { timeout: 60_000 }, async () => {
    await using room = await setup(kind)
    await using lost = await startStandIn({ ...room.backend, timing, drainMs: 1_000 })
    await lost.wrote('begun')
    lost.kill('SIGKILL')
    const killedAt = Date.now()

    const job = testJob({ timing: () => timing })
    await room.work([job, reconcileOften])
    await waitFor(() => job.calls.length === 1, { what: 'the other worker', timeoutMs: 30_000 })
    expect(Date.now() - killedAt).toBeLessThan(HELD_MS + LOOK_MS)
    await waitFor(async () => (await room.slots())[0]?.done_at, { what: 'the slot to be done' })
    expect(await room.slots()).toMatchObject([{ attempts: 2, outcome: 'succeeded' }])
  })

  test('cannot disturb who took its slot, when it was only suspended', { timeout: 60_000 }, async () => {
    await using room = await setup(kind)
    await using suspended = await startStandIn({ ...room.backend, timing, drainMs: 1_000 })
    await suspended.wrote('begun')
    suspended.kill('SIGSTOP')

    const gate = openGate()
    const job = testJob({ timing: () => timing, run: (_, __, signal) => gate.pass(signal) })
    await room.work([job, reconcileOften])
    await waitFor(() => job.calls.length === 1, { what: 'the other worker', timeoutMs: 30_000 })
    suspended.kill('SIGCONT')
    await suspended.wrote('aborted')
    suspended.kill('SIGTERM')
    await suspended.wrote('drained')
    const [taken] = await room.slots()
    expect(taken).toMatchObject({ attempts: 2, done_at: null })
    expect(taken!.retry_at!.getTime()).toBeGreaterThan(Date.now())

    gate.release()
    await waitFor(async () => (await room.slots())[0]?.done_at, { what: 'the slot to be done' })
    expect(await room.slots()).toMatchObject([{ attempts: 2, outcome: 'succeeded' }])
  })
})
