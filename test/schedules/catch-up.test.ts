import { describe, expect, test } from 'vitest'
import { pauseSchedule, resumeSchedule } from '#src/schedules/control.ts'
import { ADA } from '#test/support/acted-by.ts'
import { waitFor } from '../support/wait-for.ts'
import {
  BACKENDS,
  dailyCron,
  ONCE,
  openQueueHarness,
  reconcileOften,
  testJob,
} from '../worker/queue-harness.ts'

const HOUR = 3_600_000

function nightlyJob(agoMs: number) {
  const { cron, slot } = dailyCron(agoMs)
  return { slot, job: testJob({ name: 'nightly', timing: { cron, timezone: 'UTC' } }) }
}

describe.each(BACKENDS)('what was due while no worker ran, on %s', kind => {
  test('is caught up with by one run, however many workers start', async () => {
    await using harness = await openQueueHarness(kind)
    await harness.installedLongAgo()
    const { job, slot } = nightlyJob(2 * HOUR)
    await Promise.all([1, 2, 3].map(() => harness.work([job], reconcileOften)))
    await waitFor(async () => (await harness.slots())[0]?.done_at, { what: 'the run' })
    await harness.processed()
    expect(job.calls).toEqual([{ account: 'default', trigger: 'catch-up', slot }])
  })

  test('is skipped if it is older than FERRY_CATCH_UP', async () => {
    await using harness = await openQueueHarness(kind, { catchUpMs: HOUR })
    await harness.installedLongAgo()
    const { job } = nightlyJob(2 * HOUR)
    const canary = testJob({ name: 'canary', timing: ONCE })
    await harness.work([job, canary], reconcileOften)
    await waitFor(() => canary.calls.length > 0, { what: 'the reconciler to have looked' })
    await harness.processed()
    expect(job.calls).toEqual([])
  })

  test('stays undone while its schedule is paused, through a restart too', async () => {
    await using harness = await openQueueHarness(kind)
    await harness.installedLongAgo()
    const { job } = nightlyJob(HOUR)
    const canary = testJob({ name: 'canary', timing: { everyMs: 1_000 } })
    await pauseSchedule(harness.ferry.pool, harness.schedulesOf([job, canary]), 'nightly', undefined, ADA)
    const first = await harness.work([job, canary], reconcileOften)
    await waitFor(() => canary.calls.length > 0, { what: 'the worker to work' })
    await first.drain(5_000)
    const before = canary.calls.length
    await harness.work([job, canary], reconcileOften)
    await waitFor(() => canary.calls.length > before, { what: 'the second worker to work' })
    await harness.wake({ job: 'nightly' })
    await harness.processed()
    expect(job.calls).toEqual([])
    expect((await harness.slots()).filter(row => row.schedule === 'nightly')).toEqual([])

    await resumeSchedule(harness.ferry.pool, harness.schedulesOf([job, canary]), 'nightly', undefined, ADA)
    await waitFor(() => job.calls.length > 0, { what: 'the run after it was resumed' })
  })
})

describe.each(BACKENDS)('the schedules of workers, on %s', kind => {
  test('go on when the queue was wiped under a running worker, and no slot is lost', async () => {
    await using harness = await openQueueHarness(kind, { accounts: ['east', 'west'] })
    const poll = testJob({ name: 'poll', timing: { everyMs: 2_000 } })
    await harness.work([poll], reconcileOften)
    await waitFor(() => poll.calls.length >= 2, { what: 'both polls' })
    await harness.wipeQueue()
    const before = poll.calls.length
    await waitFor(() => poll.calls.length >= before + 4, { what: 'two more polls of each account' })
    for (const account of ['east', 'west']) {
      const slots = poll.calls.filter(call => call.account === account).map(call => call.slot!.getTime())
      expect(slots).toEqual(slots.map((_, index) => slots[0]! + index * 2_000))
    }
  })

  test('follow the settings of each worker, at other moments for each account', async () => {
    await using harness = await openQueueHarness(kind, { accounts: ['east', 'west'] })
    const poll = testJob({ name: 'poll', timing: { everyMs: 1_000 } })
    const gone = testJob({ name: 'gone', timing: ONCE })
    const first = await harness.work([poll, gone], reconcileOften)
    await waitFor(() => poll.calls.length >= 2 && gone.calls.length === 2, { what: 'every job to run' })
    await first.drain(5_000)
    // So long that none of its times is one of those of every second, which have had their poll.
    const changed = testJob({ name: 'poll', timing: ONCE })
    await harness.work([changed], reconcileOften)
    await waitFor(() => changed.calls.length === 2, { what: 'the first polls of the new interval' })
    await harness.processed()
    expect(gone.calls).toHaveLength(2)
    const phase = (account: string) =>
      changed.calls.find(call => call.account === account)!.slot!.getTime() % ONCE.everyMs
    expect(phase('east')).not.toBe(phase('west'))
  })
})
