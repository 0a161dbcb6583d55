import { pino } from 'pino'
import { expect, test } from 'vitest'
import { oldSlots } from '#src/schedules/free-slot.ts'
import { takeSlot } from '#src/schedules/slot-lease.ts'
import { removeOld } from '#test/support/prune.ts'
import { endSlotPauses, listSlots } from '#test/support/slots.ts'
import { openTestStore } from '#test/support/store.ts'

const ago = (days: number) => new Date(Date.now() - days * 86_400_000)

test('old slots are removed, done or left lying, except the latest of each schedule', async () => {
  await using store = await openTestStore()
  const context = { pool: store.pool, holder: 'test', log: pino({ level: 'silent' }) }
  const take = async (schedule: string, daysAgo: number, account = 'default') =>
    (await takeSlot(context, { schedule, account }, ago(daysAgo), { evenIfPaused: false }))!
  await (await take('poll', 40)).end({ to: 'done', outcome: 'succeeded', supersedes: false })
  await (await take('poll', 35)).end({ to: 'retry after a failure', afterMs: 0 })
  await endSlotPauses(store.pool, '35 days')
  await (await take('poll', 33)).end({ to: 'retry after a failure', afterMs: 0 })
  await (await take('poll', 1)).end({ to: 'done', outcome: 'succeeded', supersedes: false })
  await (await take('monthly', 45)).end({ to: 'done', outcome: 'succeeded', supersedes: false })
  // The latest one of its account, though another account has a later one.
  await (await take('poll', 50, 'other')).end({ to: 'done', outcome: 'skipped', supersedes: false })
  expect(await removeOld(oldSlots(store.pool))).toBe(2)
  expect(await listSlots(store.pool)).toMatchObject([
    { schedule: 'poll', account: 'other', outcome: 'skipped' },
    { schedule: 'monthly', outcome: 'succeeded' },
    { schedule: 'poll', outcome: null },
    { schedule: 'poll', outcome: 'succeeded' },
  ])
})
