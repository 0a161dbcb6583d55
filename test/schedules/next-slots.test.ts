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
  expect(await listNextSlots(store.pool, schedules, 0)).toEqual([
    { schedule: 'poll', account: 'a', at: new Date('2026-01-01T00:06Z') },
  ])
  const ofOne = await listNextSlots(store.pool, schedules.toReversed(), 0)
  expect(ofOne.map(({ account }) => account)).toEqual(['a'])
})

test.for([
  ['5:00', '6h', 'the night that a worker may still take', '03:30'],
  ['9:31', '6h', 'the next one after a night that is too old to be taken', 'tomorrow'],
  ['9:31', 'never too late', 'a night that is caught up with however late', '03:30'],
] as const)('at %s, with %s, it is %s', async ([time, catchUp, , expected]) => {
  await using store = await openTestStore()
  const { rows } = await store.pool.query<{ last: Date; night: Date; now: Date }>(
    `select date_trunc('day', now()) - interval '3 days' as last, now() - $1::interval as night, now()`,
    [time],
  )
  const { last, night, now } = rows[0]!
  const cron = `${night.getUTCMinutes()} ${night.getUTCHours()} * * *`
  const nightly = {
    ...schedule('a'),
    schedule: 'snapshot',
    timing: { cron, timezone: 'UTC' },
    ...(catchUp === 'never too late' && ({ isNeverTooLate: true } as const)),
  }
  await store.pool.query(
    `insert into ferry.schedule_slots (account, schedule, slot, done_at, outcome) values ('a', 'snapshot', $1, now(), 'succeeded')`,
    [last],
  )
  const [next] = await listNextSlots(store.pool, [nightly], 6 * 3_600_000)
  expect(next!.at > now).toBe(expected === 'tomorrow')
  expect(Math.abs(next!.at.getTime() - now.getTime())).toBeLessThan(24 * 3_600_000)
})
