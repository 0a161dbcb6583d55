import { expect, test } from 'vitest'
import { pauseSchedules } from '#src/schedules/control.ts'
import { listNextSlots } from '#src/schedules/list-schedules.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openTestStore } from '#test/support/store.ts'

const schedule = (account: string) => ({
  schedule: 'poll',
  account,
  timing: { everyMs: 60_000 },
  beginsAtOnce: false,
  retryAfterMs: [],
  skippedAgainAfterMs: null,
})

test('the next slot is the one after the last that was taken; there is none of what is paused or never ran', async () => {
  await using store = await openTestStore()
  const schedules = ['a', 'paused', 'new'].map(schedule)
  await store.pool.query(
    `insert into ferry.schedule_slots (account, schedule, slot, done_at, outcome)
     select account, 'poll', slot::timestamptz, now(), 'succeeded'
     from unnest('{a,paused}'::text[]) account, unnest('{2026-01-01T00:01Z,2026-01-01T00:05Z,2026-01-01T00:03Z}'::text[]) slot`,
  )
  await pauseSchedules(store.pool, [{ schedule: 'poll', account: 'paused' }], ADA)
  expect(await listNextSlots(store.pool, schedules)).toEqual([
    { schedule: 'poll', account: 'a', at: new Date('2026-01-01T00:06Z') },
  ])
  const ofOne = await listNextSlots(store.pool, schedules.toReversed())
  expect(ofOne.map(({ account }) => account)).toEqual(['a'])
})
