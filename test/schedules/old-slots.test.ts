import { expect, test } from 'vitest'
import { oldSlots } from '#src/schedules/free-slot.ts'
import { removeOld } from '#test/support/prune.ts'
import { openTestStore } from '#test/support/store.ts'

test('slots are kept for thirty days, and the latest of each schedule for ever, as is one that is tried again', async () => {
  await using store = await openTestStore()
  const add = (schedule: string, daysAgo: number, retryDaysAgo: number | null = null) =>
    store.pool.query(
      `insert into ferry.schedule_slots (account, schedule, slot, done_at, retry_at)
       select '*', $1, now() - $2 * interval '1 day', case when $3::int is null then now() end, now() - $3 * interval '1 day'`,
      [schedule, daysAgo, retryDaysAgo],
    )
  await add('nightly', 29)
  await add('nightly', 31)
  await add('weekly', 200)
  await add('tried', 31, 1)
  await add('tried', 32, 31)
  await add('tried', 1)
  await add('of nobody', 33, 31)
  expect(await removeOld(oldSlots(store.pool))).toBe(3)
  const { rows } = await store.pool.query(
    `select schedule, round(extract(epoch from now() - slot) / 86400)::int as days from ferry.schedule_slots order by 1, 2`,
  )
  expect(rows).toEqual([
    { schedule: 'nightly', days: 29 },
    { schedule: 'tried', days: 1 },
    { schedule: 'tried', days: 31 },
    { schedule: 'weekly', days: 200 },
  ])
})
