import { describe, expect, test } from 'vitest'
import type { RunResult } from '#src/model/run.ts'
import { takeSlot } from '#src/schedules/slot-lease.ts'
import { slotAt, spread } from '#src/schedules/timing.ts'
import { runSchedule } from '#src/worker/wake-ups.ts'
import { ADA } from '#test/support/acted-by.ts'
import { waitFor } from '../support/wait-for.ts'
import {
  BACKENDS,
  dailyCron,
  ONCE,
  openGate,
  openQueueHarness,
  reconcileOften,
  testJob,
} from './queue-harness.ts'

const HOUR = 3_600_000

const REFUSED_RUN = {
  run: 1n,
  resource: 'alert-rules',
  status: 'failed',
  requests: 1,
  durationMs: 1,
  errorCode: 'Unauthorized',
  requestId: null,
  message: null,
  ...{ seen: 0, added: 0, changed: 0, removed: 0, unchanged: 0, quarantined: 0 },
} as const satisfies Omit<RunResult, 'account'>

describe.each(BACKENDS)('a worker on %s', kind => {
  test('does each slot once, though three workers start at once', async () => {
    await using harness = await openQueueHarness(kind, { accounts: ['east', 'west'] })
    const job = testJob({ timing: { everyMs: 1_000 } })
    await Promise.all([1, 2, 3].map(() => harness.work([job], reconcileOften)))
    await waitFor(() => job.calls.length >= 8, { what: 'eight runs' })

    const done = job.calls.map(call => `${call.account} ${call.slot?.toISOString()}`)
    expect(new Set(done).size).toBe(done.length)
    expect(new Set(job.calls.map(call => call.account))).toEqual(new Set(['east', 'west']))
    const east = job.calls.filter(call => call.account === 'east').map(call => call.slot!.getTime())
    // A machine that is too busy misses some: a hundred missed slots are one run.
    for (const slot of east) expect((slot - east[0]!) % 1_000).toBe(0)
  })

  test('runs a poll at once when it is first started, and a cron schedule at its time', async () => {
    await using harness = await openQueueHarness(kind)
    const poll = testJob({ name: 'poll', timing: ONCE })
    const { cron } = dailyCron(HOUR)
    const nightly = testJob({ name: 'nightly', timing: { cron, timezone: 'UTC' } })
    await harness.work([poll, nightly], reconcileOften)
    await waitFor(() => poll.calls.length > 0, { what: 'the first poll' })
    const slot = slotAt(spread(ONCE, 'poll/default'), new Date())
    expect(poll.calls).toEqual([{ account: 'default', trigger: 'schedule', slot }])
    expect(nightly.calls).toEqual([])
  })

  test('ignores a wake-up that comes again, while the slot is under way and when it is done', async () => {
    await using harness = await openQueueHarness(kind)
    const gate = openGate()
    const job = testJob({ timing: ONCE, run: (_, __, signal) => gate.pass(signal) })
    await harness.work([job])
    await harness.wake({ job: job.name })
    await waitFor(() => job.calls.length === 1, { what: 'the run' })
    await harness.wake({ job: job.name })
    await harness.processed(1)
    gate.release()
    await harness.processed()
    await harness.wake({ job: job.name })
    await harness.processed()
    expect(job.calls).toHaveLength(1)
    expect(await harness.slots()).toMatchObject([{ attempts: 1, outcome: 'succeeded', retry_at: null }])
  })

  test('sends nothing through the queue but the name of the schedule and its account', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({ timing: ONCE })
    await runSchedule(
      harness.ferry,
      harness.openBackend(),
      harness.schedulesOf([job]),
      { name: job.name, account: undefined },
      ADA,
    )
    const wakeUps = await harness.queue.getJobs(['delayed', 'waiting'])
    expect(wakeUps.map(({ data }) => data)).toEqual([{ job: job.name, account: 'default' }])
  })

  test('wakes each account whose schedule somebody runs', async () => {
    await using harness = await openQueueHarness(kind, { accounts: ['east', 'west'] })
    const job = testJob({ timing: ONCE })
    const all = { name: job.name, account: undefined }
    await runSchedule(harness.ferry, harness.openBackend(), harness.schedulesOf([job]), all, ADA)
    const wakeUps = await harness.queue.getJobs(['delayed', 'waiting'])
    expect(wakeUps.map(({ data }) => data.account).sort()).toEqual(['east', 'west'])
  })

  test('ignores a wake-up for a job or an account it does not know', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({ timing: ONCE })
    await harness.work([job])
    await harness.wake({ job: 'gone' })
    await harness.wake({ job: job.name, account: 'gone' })
    await harness.processed()
    expect(await harness.slots()).toEqual([])
  })

  test('skips a slot while another run is under way, and goes on with the next', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({ timing: ONCE, run: async () => ({ status: 'skipped' }) })
    await harness.work([job], reconcileOften)
    await waitFor(async () => (await harness.slots())[0]?.done_at, { what: 'the slot to be done' })
    expect(await harness.slots()).toMatchObject([{ attempts: 1, outcome: 'skipped' }])
  })

  test('tries a skipped slot again if its schedule says so, and spends no attempt', async () => {
    await using harness = await openQueueHarness(kind)
    const answers = ['skipped', 'skipped', 'succeeded'] as const
    const job = testJob({
      timing: ONCE,
      skippedAgainAfterMs: 300,
      run: async () => ({ status: answers[job.calls.length - 1] ?? 'failed' }),
    })
    await harness.work([job], reconcileOften)
    await waitFor(async () => (await harness.slots())[0]?.done_at, {
      what: 'the slot to be done',
    })
    expect(job.calls).toHaveLength(3)
    expect(await harness.slots()).toMatchObject([{ attempts: 1, outcome: 'succeeded' }])
  })

  test('gives a slot up after its last attempt, whether the job failed or threw', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({
      timing: ONCE,
      retryAfterMs: [100, 200],
      run: async () => {
        if (job.calls.length === 2) throw new Error('broken')
        return { status: 'failed' }
      },
    })
    await harness.work([job], reconcileOften)
    await waitFor(async () => (await harness.slots())[0]?.done_at, {
      what: 'the slot to be done',
    })
    expect(job.calls).toHaveLength(3)
    expect(await harness.slots()).toMatchObject([{ attempts: 3, outcome: 'failed', retry_at: null }])
    expect(new Set(job.calls.map(call => call.slot?.getTime())).size).toBe(1)
  })

  test('soon tries a slot again whose key the platform refused', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({
      timing: ONCE,
      run: async (_, { account }) => ({ status: 'failed', runs: [{ ...REFUSED_RUN, account }] }),
    })
    await harness.work([job], reconcileOften)
    // While it runs, its lease says 18 seconds.
    const isLater = async () => Number((await harness.slots())[0]?.retry_at ?? 0) > Date.now() + 18_500
    await waitFor(isLater, { what: 'the slot to wait' })
    expect(await harness.slots()).toMatchObject([{ attempts: 1, done_at: null }])
  })

  test('tries an older slot after a newer one that failed', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({ timing: ONCE, run: async () => ({ status: 'failed' }) })
    const older = new Date(Date.now() - 2 * ONCE.everyMs)
    const [schedule] = harness.schedulesOf([job])
    const lease = await takeSlot(harness.ferry, schedule!, older, { evenIfPaused: false })
    await lease!.end({ to: 'give back' })
    await harness.work([job], reconcileOften)
    const ended = async () => (await harness.slots()).filter(slot => slot.done_at)
    await waitFor(async () => (await ended()).length === 2, {
      what: 'both slots to be done',
    })
    expect((await ended()).map(slot => slot.outcome)).toEqual(['failed', 'failed'])
    expect(job.calls.map(call => call.slot)).toEqual([expect.any(Date), older])
  })

  test('keeps a failed slot for its pause, whoever enqueues it', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({ timing: ONCE, retryAfterMs: [HOUR], run: async () => ({ status: 'failed' }) })
    await harness.work([job], reconcileOften)
    await waitFor(async () => (await harness.slots())[0], { what: 'the first attempt' })
    await harness.processed()
    await harness.wake({ job: job.name })
    await harness.processed()
    const [slot] = await harness.slots()
    expect(slot).toMatchObject({ attempts: 1, done_at: null })
    expect(slot!.retry_at!.getTime() - Date.now()).toBeGreaterThan(HOUR - 30_000)
    expect(job.calls).toHaveLength(1)
  })
})
