import { describe, expect, test } from 'vitest'
import {
  listSchedules,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  UnknownSchedule,
} from '#src/queue/schedules.ts'
import { waitFor } from '../support/wait-for.ts'
import { BACKENDS, reconcileOften, setup, testJob } from './setup.ts'

const poll = testJob({ name: 'poll', timing: () => ({ everyMs: 60_000 }) })
const nightly = testJob({
  name: 'nightly',
  perAccount: false,
  timing: () => ({ cron: '30 3 * * *', timezone: 'Europe/Berlin' }),
})
const JOBS = [poll, nightly, reconcileOften]

describe('the list of schedules', () => {
  test('has a line for each job of each account, with its next time', async () => {
    await using room = await setup('postgres', { accounts: ['east', 'west'] })
    const list = await listSchedules(room.ferry, JOBS)
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

  test('says what is paused, for one account or for all', async () => {
    await using room = await setup('postgres', { accounts: ['east', 'west'] })
    const paused = async () => (await listSchedules(room.ferry, JOBS)).filter(row => row.paused)
    expect(await pauseSchedule(room.ferry, JOBS, 'poll')).toEqual([
      { schedule: 'poll', account: 'east' },
      { schedule: 'poll', account: 'west' },
    ])
    await pauseSchedule(room.ferry, JOBS, 'poll', 'west')
    expect((await paused()).map(row => [row.account, row.nextAt])).toEqual([
      ['east', null],
      ['west', null],
    ])
    await resumeSchedule(room.ferry, JOBS, 'poll', 'west')
    expect((await paused()).map(row => row.account)).toEqual(['east'])
  })

  test('knows no other names, and says which is nearest', async () => {
    await using room = await setup('postgres')
    await expect(pauseSchedule(room.ferry, JOBS, 'nigthly')).rejects.toThrow(UnknownSchedule)
    await expect(pauseSchedule(room.ferry, JOBS, 'nigthly')).rejects.toThrow('Did you mean nightly?')
    await expect(pauseSchedule(room.ferry, JOBS, 'poll', 'defualt')).rejects.toThrow('Did you mean default?')
    await expect(pauseSchedule(room.ferry, JOBS, 'reconcile')).rejects.toThrow(UnknownSchedule)
  })
})

describe.each(BACKENDS)('a run by hand, on %s', kind => {
  test('begins at once, even if the schedule is paused, and leaves the slots of the schedule alone', async () => {
    await using room = await setup(kind)
    const job = testJob({ name: 'nightly', timing: () => ({ cron: '0 0 1 1 *', timezone: 'UTC' }) })
    await pauseSchedule(room.ferry, [job], 'nightly')
    await room.work([job])
    const before = Date.now()
    await runSchedule(room.ferry, await room.openBackend(), [job], 'nightly')
    await waitFor(() => job.calls.length === 1, { what: 'the run', timeoutMs: 2_000 })
    expect(job.calls).toEqual([{ account: 'default', trigger: 'manual' }])
    await room.answered()
    const [row] = await listSchedules(room.ferry, [job])
    expect(row).toMatchObject({ lastOutcome: 'succeeded', paused: true })
    expect(row!.lastSlot!.getTime()).toBeGreaterThanOrEqual(before - 1_000)
  })

  test('is not lost with the queue', async () => {
    await using room = await setup(kind)
    const job = testJob({ name: 'nightly', timing: () => ({ cron: '0 0 1 1 *', timezone: 'UTC' }) })
    await runSchedule(room.ferry, await room.openBackend(), [job], 'nightly')
    await room.wipeQueue()
    await room.work([job, reconcileOften])
    await waitFor(() => job.calls.length === 1, { what: 'the run' })
    expect(job.calls).toEqual([{ account: 'default', trigger: 'manual' }])
  })
})
