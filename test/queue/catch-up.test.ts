import { describe, expect, test } from 'vitest'
import { pauseSchedule, resumeSchedule } from '#src/queue/schedules.ts'
import { waitFor } from '../support/wait-for.ts'
import { BACKENDS, dailyCron, reconcileOften, setup, testJob } from './setup.ts'

const MINUTE = 60_000
const HOUR = 3_600_000

function nightlyJob(agoMs: number) {
  const { cron, slot } = dailyCron(agoMs)
  return { slot, job: testJob({ name: 'nightly', timing: () => ({ cron, timezone: 'UTC' }) }) }
}

describe.each(BACKENDS)('what was due while nothing was up, on %s', kind => {
  test('is made up for by one run, however many workers come up', async () => {
    await using room = await setup(kind)
    await room.installedLongAgo()
    const { job, slot } = nightlyJob(2 * HOUR)
    await Promise.all([1, 2, 3].map(() => room.work([job, reconcileOften])))
    await waitFor(async () => (await room.slots())[0]?.done_at, { what: 'the run' })
    await room.answered()
    expect(job.calls).toEqual([{ account: 'default', trigger: 'catch-up', slot }])
  })

  test('is let pass if it is older than FERRY_CATCH_UP', async () => {
    await using room = await setup(kind, { catchUpMs: HOUR })
    await room.installedLongAgo()
    const { job } = nightlyJob(2 * HOUR)
    const canary = testJob({ name: 'canary', timing: () => ({ everyMs: HOUR }) })
    await room.work([job, canary, reconcileOften])
    await waitFor(() => canary.calls.length > 0, { what: 'the reconciler to have looked' })
    await room.answered()
    expect(job.calls).toEqual([])
  })

  test('is not dropped when the bell is overdue in the queue as workers start', async () => {
    await using room = await setup(kind)
    const job = testJob({ timing: () => ({ cron: '*/3 * * * * *', timezone: 'UTC' }) })
    const first = await room.work([job])
    await first.drain(5_000)
    const [overdue] = await room.queue.getJobSchedulers()
    await waitFor(() => Date.now() > overdue!.next! + 100, { what: 'the next bell to be overdue' })

    await room.work([job])
    await waitFor(() => job.calls.length > 0, { what: 'the overdue bell', timeoutMs: 2_000 })
    expect(job.calls[0]!.slot!.getTime()).toBe(overdue!.next!)
  })

  test('stays undone while its schedule is paused, through a restart too', async () => {
    await using room = await setup(kind)
    await room.installedLongAgo()
    const { job, slot } = nightlyJob(HOUR)
    const canary = testJob({ name: 'canary', timing: () => ({ everyMs: 1_000 }) })
    await pauseSchedule(room.ferry, [job, canary], 'nightly')
    const first = await room.work([job, canary, reconcileOften])
    await waitFor(() => canary.calls.length > 0, { what: 'the worker to work' })
    await first.drain(5_000)
    const before = canary.calls.length
    await room.work([job, canary, reconcileOften])
    await waitFor(() => canary.calls.length > before, { what: 'the second worker to work' })
    await room.ringAgain({ job: 'nightly', slot: slot.toISOString() })
    await room.answered()
    expect(job.calls).toEqual([])
    expect((await room.slots()).filter(row => row.schedule === 'nightly')).toEqual([])

    await resumeSchedule(room.ferry, [job, canary], 'nightly')
    await waitFor(() => job.calls.length > 0, { what: 'the run after it was resumed' })
  })
})

describe.each(BACKENDS)('the schedules in the queue, on %s', kind => {
  test('follow the settings when a worker starts: changed, added and removed', async () => {
    await using room = await setup(kind, { accounts: ['east', 'west'] })
    const poll = testJob({ name: 'poll', timing: settings => ({ everyMs: settings.pollEveryMs }) })
    const gone = testJob({ name: 'gone', timing: () => ({ everyMs: HOUR }) })
    const first = await room.work([poll, gone])
    await first.drain(5_000)
    expect(await everyOf(room)).toEqual({
      'gone/east': HOUR,
      'gone/west': HOUR,
      'poll/east': 1_000,
      'poll/west': 1_000,
    })
    const changed = { ...poll, timing: () => ({ everyMs: 5 * MINUTE }) }
    await room.work([changed])
    expect(await everyOf(room)).toEqual({ 'poll/east': 5 * MINUTE, 'poll/west': 5 * MINUTE })
  })

  test('are put back when the queue was wiped under a running worker, and no slot is lost', async () => {
    await using room = await setup(kind, { accounts: ['east', 'west'] })
    const poll = testJob({ name: 'poll', timing: () => ({ everyMs: 2_000 }) })
    const { cron } = dailyCron(23 * HOUR)
    const nightly = testJob({ name: 'nightly', timing: () => ({ cron, timezone: 'UTC' }) })
    await room.work([poll, nightly, reconcileOften])
    await waitFor(() => poll.calls.length >= 2, { what: 'both polls' })
    await room.wipeQueue()
    const before = poll.calls.length
    await waitFor(async () => (await room.queue.getJobSchedulersCount()) === 4, {
      what: 'the schedules to be back',
      timeoutMs: 5_000,
    })
    await waitFor(() => poll.calls.length >= before + 4, { what: 'two more polls of each account' })
    const slots = poll.calls.filter(call => call.account === 'east').map(call => call.slot!.getTime() / 2_000)
    expect(slots).toEqual(slots.map((_, index) => slots[0]! + index))
  })
})

async function everyOf(room: Awaited<ReturnType<typeof setup>>): Promise<Record<string, number | undefined>> {
  const schedulers = await room.queue.getJobSchedulers()
  return Object.fromEntries(schedulers.map(({ key, every }) => [key, every]).sort())
}
