import { expect, test } from 'vitest'
import { oldEvents } from '#src/db/prune.ts'
import { DAY_MS, removeOld } from '#test/support/prune.ts'
import { openTestStore } from '#test/support/store.ts'

test('old events are removed, except those that are open', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await pool.query(
    `insert into ferry.events (kind, state, account, subject, data, is_open, at)
     select 'import.paused', 'raised', 'default', n::text, '{}', n = 1, clock_timestamp() - (n < 4)::int * interval '91 days'
     from generate_series(1, 5) n`,
  )
  expect(await removeOld(oldEvents(pool, null))).toBe(0)
  expect(await removeOld(oldEvents(pool, 90 * DAY_MS))).toBe(2)
  const { rows } = await pool.query('select subject from ferry.events order by id')
  expect(rows.map(({ subject }) => subject)).toEqual(['1', '4', '5'])
})

test.for([5_000, 5_001, 10_000])('%i old events are all removed', async count => {
  await using store = await openTestStore()
  await store.pool.query(
    `insert into ferry.events (kind, state, account, subject, data, is_open, at)
     select 'import.paused', 'raised', 'default', n::text, '{}', false, clock_timestamp() - interval '91 days'
     from generate_series(1, $1::int) n`,
    [count],
  )
  expect(await removeOld(oldEvents(store.pool, 90 * DAY_MS))).toBe(count)
})

test('an old event is kept while a message about it may still be sent', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await pool.query(
    `with old as (
       insert into ferry.events (kind, state, account, subject, data, is_open, at)
       select 'import.paused', 'raised', 'default', n::text, '{}', false, clock_timestamp() - interval '2 days'
       from generate_series(1, 3) n returning *)
     insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, delivered_at)
     select id, 'ops', kind, account, subject, '{}', clock_timestamp() - case when subject = '2' then interval '25 h' else interval '23 h' end,
       case when subject = '3' then clock_timestamp() end from old`,
  )
  expect(await removeOld(oldEvents(pool, DAY_MS))).toBe(2)
  const { rows } = await pool.query('select subject from ferry.events')
  expect(rows).toEqual([{ subject: '1' }])
})
