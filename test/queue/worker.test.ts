import { describe, expect, test } from 'vitest'
import { runSchedule } from '#src/queue/schedules.ts'
import { slotAt, spread } from '#src/queue/timing.ts'
import { waitFor } from '../support/wait-for.ts'
import { BACKENDS, dailyCron, ONCE, openGate, reconcileOften, setup, testJob } from './setup.ts'

const HOUR = 3_600_000
const once = () => ONCE

describe.each(BACKENDS)('a worker on %s', kind => {
  test('does each slot once, though three workers start at once', async () => {
    await using room = await setup(kind, { accounts: ['east', 'west'] })
    const job = testJob({ timing: () => ({ everyMs: 1_000 }) })
    await Promise.all([1, 2, 3].map(() => room.work([job, reconcileOften])))
    await waitFor(() => job.calls.length >= 8, { what: 'eight runs' })

    const done = job.calls.map(call => `${call.account} ${call.slot?.toISOString()}`)
    expect(new Set(done).size).toBe(done.length)
    expect(new Set(job.calls.map(call => call.account))).toEqual(new Set(['east', 'west']))
    const east = job.calls.filter(call => call.account === 'east').map(call => call.slot!.getTime())
    expect(east).toEqual(east.map((_, index) => east[0]! + index * 1_000))
  })

  test('polls at once when it is first started, and waits for its time with what has a time', async () => {
    await using room = await setup(kind)
    const poll = testJob({ name: 'poll', timing: once })
    const { cron } = dailyCron(HOUR)
    const nightly = testJob({ name: 'nightly', timing: () => ({ cron, timezone: 'UTC' }) })
    await room.work([poll, nightly, reconcileOften])
    await waitFor(() => poll.calls.length > 0, { what: 'the first poll' })
    const slot = slotAt(spread(ONCE, 'poll/default'), new Date())
    expect(poll.calls).toEqual([{ account: 'default', trigger: 'schedule', slot }])
    expect(nightly.calls).toEqual([])
  })

  test('ignores a bell that comes again, while somebody is at the slot and when it is done', async () => {
    await using room = await setup(kind)
    const gate = openGate()
    const job = testJob({ timing: once, run: (_, __, signal) => gate.pass(signal) })
    await room.work([job])
    await room.ringAgain({ job: job.name })
    await waitFor(() => job.calls.length === 1, { what: 'the run' })
    await room.ringAgain({ job: job.name })
    await room.answered(1)
    gate.release()
    await room.answered()
    await room.ringAgain({ job: job.name })
    await room.answered()
    expect(job.calls).toHaveLength(1)
    expect(await room.slots()).toMatchObject([{ attempts: 1, outcome: 'succeeded', retry_at: null }])
  })

  test('sends nothing through the queue but which schedule to look at', async () => {
    await using room = await setup(kind)
    const job = testJob({ timing: once })
    await runSchedule(room.ferry, room.openBackend(), [job], job.name)
    const bells = await room.queue.getJobs(['delayed', 'waiting'])
    expect(bells.map(({ data }) => data)).toEqual([{ job: job.name, account: 'default' }])
  })

  test('ignores a bell for a job or an account it does not know', async () => {
    await using room = await setup(kind)
    const job = testJob({ timing: once })
    await room.work([job])
    await room.ringAgain({ job: 'gone' })
    await room.ringAgain({ job: job.name, account: 'gone' })
    await room.answered()
    expect(await room.slots()).toEqual([])
  })

  test('skips a slot that met another run at work, and goes on with the next', async () => {
    await using room = await setup(kind)
    const job = testJob({ timing: once, run: async () => ({ status: 'skipped' }) })
    await room.work([job, reconcileOften])
    await waitFor(async () => (await room.slots())[0]?.done_at, { what: 'the slot to be done' })
    expect(await room.slots()).toMatchObject([{ attempts: 1, outcome: 'skipped' }])
  })

  test('tries a slot again that met another run at work if the job wants that, and spends no attempt', async () => {
    await using room = await setup(kind)
    const answers = ['skipped', 'skipped', 'succeeded'] as const
    const job = testJob({
      timing: once,
      skippedAgainAfterMs: 300,
      run: async () => ({ status: answers[job.calls.length - 1] ?? 'failed' }),
    })
    await room.work([job, reconcileOften])
    await waitFor(async () => (await room.slots())[0]?.done_at, {
      what: 'the slot to be done',
      timeoutMs: 25_000,
    })
    expect(job.calls).toHaveLength(3)
    expect(await room.slots()).toMatchObject([{ attempts: 1, outcome: 'succeeded' }])
  })

  test('gives a slot up after its last attempt, whether it failed or broke', async () => {
    await using room = await setup(kind)
    const job = testJob({
      timing: once,
      retryAfterMs: [100, 200],
      run: async () => {
        if (job.calls.length === 2) throw new Error('broken')
        return { status: 'failed' }
      },
    })
    await room.work([job, reconcileOften])
    await waitFor(async () => (await room.slots())[0]?.done_at, {
      what: 'the slot to be done',
      timeoutMs: 28_000,
    })
    expect(job.calls).toHaveLength(3)
    expect(await room.slots()).toMatchObject([{ attempts: 3, outcome: 'failed', retry_at: null }])
    expect(new Set(job.calls.map(call => call.slot?.getTime())).size).toBe(1)
  })

  test('keeps a failed slot for its pause, whoever rings for it', async () => {
    await using room = await setup(kind)
    const job = testJob({ timing: once, retryAfterMs: [HOUR], run: async () => ({ status: 'failed' }) })
    await room.work([job, reconcileOften])
    await waitFor(async () => (await room.slots())[0], { what: 'the first attempt' })
    await room.answered()
    await room.ringAgain({ job: job.name })
    await room.answered()
    const [slot] = await room.slots()
    expect(slot).toMatchObject({ attempts: 1, done_at: null })
    expect(slot!.retry_at!.getTime() - Date.now()).toBeGreaterThan(HOUR - 30_000)
    expect(job.calls).toHaveLength(1)
  })
})
