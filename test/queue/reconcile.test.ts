import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createFindDue } from '#src/queue/due.ts'
import type { JobContext, TimedSchedule, Timing } from '#src/queue/job.ts'
import { createReconciler } from '#src/queue/reconcile.ts'
import { pauseSchedule } from '#src/queue/schedules.ts'
import { slotAt } from '#src/queue/timing.ts'
import { takeSlot } from '#src/store/slots.ts'
import { ONCE, type QueueRoom, setup, testJob } from './setup.ts'

const scheduleOf = (schedule: string, timing: Timing, account = 'default'): TimedSchedule => ({
  schedule,
  account,
  timing,
  beginsAtOnce: false,
})

function openReconciler(
  room: QueueRoom,
  schedules: readonly TimedSchedule[],
  ferry: JobContext = room.ferry,
) {
  const queue = room.openBackend().openQueue('sync')
  const reconciler = createReconciler(ferry, createFindDue(ferry, new Date()), queue, schedules)
  return { ...reconciler, [Symbol.asyncDispose]: () => queue.close() }
}

const rungFor = async (room: QueueRoom) =>
  (await room.queue.getJobs(['waiting'])).map(bell => bell.data.account).sort()

test('a schedule whose time cannot be worked out stops no other, and is reported once', async () => {
  await using room = await setup('postgres')
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: line => lines.push(line) })
  const never = scheduleOf('never', { cron: '0 0 31 4,6 *', timezone: 'UTC' })
  await using reconciler = openReconciler(room, [never, scheduleOf('poll', ONCE)], { ...room.ferry, log })
  await reconciler.look()
  await reconciler.look()
  expect(await rungFor(room)).toContain('default')
  expect(lines).toEqual([expect.stringContaining('cannot be worked out')])
})

test('a pause of one account pauses no other', async () => {
  await using room = await setup('postgres', { accounts: ['east', 'west'] })
  await pauseSchedule(room.ferry, [testJob({ name: 'poll', timing: () => ONCE })], 'poll', 'east')
  await using reconciler = openReconciler(room, [
    scheduleOf('poll', ONCE, 'east'),
    scheduleOf('poll', ONCE, 'west'),
  ])
  await reconciler.look()
  expect(await rungFor(room)).toEqual(['west'])
})

test('looks again when the next slot is due, or the next one that waits is free', async () => {
  await using room = await setup('postgres')
  const { pool, log } = room.ferry
  await using rarely = openReconciler(room, [scheduleOf('poll', ONCE), scheduleOf('other', ONCE)])
  expect(await rarely.look()).toBeGreaterThan(24 * 3_600_000)
  for (const [schedule, freeInMs] of [
    ['poll', 40_000],
    ['other', 90_000],
  ] as const) {
    const key = { schedule, account: 'default' }
    const hold = await takeSlot(pool, key, slotAt(ONCE, new Date()), { evenIfPaused: false, log })
    await hold!.reopen(freeInMs, true)
  }
  const soon = await rarely.look()
  expect(soon).toBeLessThanOrEqual(40_000)
  expect(soon).toBeGreaterThan(10_000)
  await using often = openReconciler(room, [
    scheduleOf('often', { everyMs: 5_000 }),
    scheduleOf('poll', ONCE),
  ])
  expect(await often.look()).toBeLessThanOrEqual(5_000)
})

test('rings for what is due once in three seconds, however many workers look', async () => {
  await using room = await setup('postgres')
  const workers = [1, 2, 3].map(() => openReconciler(room, [scheduleOf('poll', ONCE)]))
  for (const worker of workers) await worker.look()
  expect((await rungFor(room)).length).toBeLessThanOrEqual(2)
  for (const worker of workers) await worker[Symbol.asyncDispose]()
})
