import { describe, expect, test } from 'vitest'
import { defineSchedules } from '#jobs/schedules.ts'
import { readConfig } from '#src/config.ts'
import { listActs } from '#src/db/audit.ts'
import { pauseSchedule, resumeSchedule, UnknownSchedule } from '#src/schedules/control.ts'
import { schedulesOf } from '#src/schedules/definition.ts'
import { listSchedules } from '#src/schedules/list-schedules.ts'
import { runSchedule } from '#src/worker/wake-ups.ts'
import { ADA } from '#test/support/acted-by.ts'
import { waitFor } from '../support/wait-for.ts'
import { BACKENDS, openQueueHarness, reconcileOften, testJob } from '../worker/queue-harness.ts'

const poll = testJob({ name: 'poll', timing: { everyMs: 60_000 } })
const nightly = testJob({
  name: 'nightly',
  perAccount: false,
  timing: { cron: '30 3 * * *', timezone: 'Europe/Berlin' },
})
const JOBS = [poll, nightly]

describe('the list of schedules', () => {
  test('has a line for each job of each account, with its next time', async () => {
    await using harness = await openQueueHarness('postgres', { accounts: ['east', 'west'] })
    const list = await listSchedules(harness.ferry.pool, harness.schedulesOf(JOBS))
    expect(list.map(row => [row.name, row.account, row.everyMs, row.cron, row.timezone])).toEqual([
      ['poll', 'east', 60_000, null, null],
      ['poll', 'west', 60_000, null, null],
      ['nightly', '*', null, '30 3 * * *', 'Europe/Berlin'],
    ])
    for (const row of list) {
      expect(row).toMatchObject({ paused: false, lastSlot: null, lastOutcome: null })
      expect(row.nextAt!.getTime()).toBeGreaterThan(Date.now())
    }
  })

  test('shows what is paused, for one account or for all, and no other schedule of the account', async () => {
    await using harness = await openQueueHarness('postgres', { accounts: ['east', 'west'] })
    const other = testJob({ name: 'other', timing: { everyMs: 60_000 } })
    const schedules = harness.schedulesOf([...JOBS, other])
    const paused = async () => (await listSchedules(harness.ferry.pool, schedules)).filter(row => row.paused)
    expect(
      await pauseSchedule(harness.ferry.pool, harness.schedulesOf(JOBS), 'poll', undefined, ADA),
    ).toEqual([
      { schedule: 'poll', account: 'east' },
      { schedule: 'poll', account: 'west' },
    ])
    await pauseSchedule(harness.ferry.pool, harness.schedulesOf(JOBS), 'poll', 'west', ADA)
    expect((await paused()).map(row => [row.name, row.account, row.nextAt])).toEqual([
      ['poll', 'east', null],
      ['poll', 'west', null],
    ])
    await resumeSchedule(harness.ferry.pool, harness.schedulesOf(JOBS), 'poll', 'west', ADA)
    expect((await paused()).map(row => row.account)).toEqual(['east'])
    const resumed = await resumeSchedule(
      harness.ferry.pool,
      harness.schedulesOf(JOBS),
      'poll',
      undefined,
      ADA,
    )
    expect(resumed).toEqual([
      { schedule: 'poll', account: 'east', wasPaused: true },
      { schedule: 'poll', account: 'west', wasPaused: false },
    ])
  })

  test('of one schedule for all accounts says that it has none', async () => {
    await using harness = await openQueueHarness('postgres')
    const { pool } = harness.ferry
    const all = schedulesOf(defineSchedules(readConfig({})), ['default'])
    await expect(pauseSchedule(pool, all, 'prune', 'default', ADA)).rejects.toThrow(
      'prune is one schedule for all accounts; leave out --account',
    )
  })

  test('refuses other names, and names the nearest', async () => {
    await using harness = await openQueueHarness('postgres')
    await expect(
      pauseSchedule(harness.ferry.pool, harness.schedulesOf(JOBS), 'nigthly', undefined, ADA),
    ).rejects.toThrow(UnknownSchedule)
    await expect(
      pauseSchedule(harness.ferry.pool, harness.schedulesOf(JOBS), 'nigthly', undefined, ADA),
    ).rejects.toThrow('is not a schedule; did you mean nightly?')
    await expect(
      pauseSchedule(harness.ferry.pool, harness.schedulesOf(JOBS), 'poll', 'defualt', ADA),
    ).rejects.toThrow('is not an account of poll; did you mean default?')
    await expect(
      pauseSchedule(harness.ferry.pool, harness.schedulesOf(JOBS), 'reconcile', undefined, ADA),
    ).rejects.toThrow(UnknownSchedule)
  })
})

describe.each(BACKENDS)('a run by hand, on %s', kind => {
  test('begins at once, even if the schedule is paused, and leaves the slots of the schedule alone', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({ name: 'nightly', timing: { cron: '0 0 1 1 *', timezone: 'UTC' } })
    await pauseSchedule(harness.ferry.pool, harness.schedulesOf([job]), 'nightly', undefined, ADA)
    await harness.work([job])
    const before = Date.now()
    await runSchedule(
      harness.ferry,
      await harness.openBackend(),
      harness.schedulesOf([job]),
      { name: 'nightly', account: undefined },
      ADA,
    )
    await waitFor(() => job.calls.length === 1, { what: 'the run' })
    expect(job.calls).toEqual([{ account: 'default', trigger: 'manual' }])
    const [act] = await listActs(harness.ferry.pool, 1)
    expect(act).toMatchObject({ action: 'run', account: 'default', subject: 'nightly' })
    await harness.processed()
    const [row] = await listSchedules(harness.ferry.pool, harness.schedulesOf([job]))
    expect(row).toMatchObject({ lastOutcome: 'succeeded', paused: true })
    expect(row!.lastSlot!.getTime()).toBeGreaterThanOrEqual(before - 1_000)
  })

  test('is not lost with the queue', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({ name: 'nightly', timing: { cron: '0 0 1 1 *', timezone: 'UTC' } })
    await runSchedule(
      harness.ferry,
      await harness.openBackend(),
      harness.schedulesOf([job]),
      { name: 'nightly', account: undefined },
      ADA,
    )
    await harness.wipeQueue()
    await harness.work([job], reconcileOften)
    await waitFor(() => job.calls.length === 1, { what: 'the run' })
    expect(job.calls).toEqual([{ account: 'default', trigger: 'manual' }])
  })
})
