import { expect, test } from 'vitest'
import { oldCalls } from '#src/db/prune.ts'
import { IS_CALL_OF_BATCH } from '#src/imports/control/purge.ts'
import { ageCalls } from '#test/support/call-log.ts'
import { DAY_MS, removeOld } from '#test/support/prune.ts'
import { openTestStore } from '#test/support/store.ts'

const NEVER = new AbortController().signal

test('old calls are removed, younger ones and those of imports stay', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle({ limitKey: 'k', windows: [{ maxCalls: 9, windowMs: 1_000 }] })
  const call = async () =>
    (await throttle.acquirePermit({ account: 'a', operation: 'list-alert-rules', runId: null }, NEVER)).callId
  const imported = await call()
  await store.pool.query('update ferry.platform_calls set batch_id = 1')
  await call()
  await ageCalls(store.pool, '2 days')
  const young = await call()
  await ageCalls(store.pool, '89 days')
  expect(await removeOld(oldCalls(store.pool, 90 * DAY_MS, IS_CALL_OF_BATCH))).toBe(1)
  const { rows } = await store.pool.query('select id from ferry.platform_calls order by id')
  expect(rows).toEqual([imported, young].map(id => ({ id: `${id}` })))
  expect(await removeOld(oldCalls(store.pool, null, IS_CALL_OF_BATCH))).toBe(0)
})

test.for([4_999, 5_000, 5_001, 10_001])('%i old calls that stay do not keep the later ones', async kept => {
  await using store = await openTestStore()
  await store.pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, batch_id)
     select 'a', 'a', 'import-subscribers', now() - interval '9 days', now() - interval '9 days', case when n <= $1 then 1 end
     from generate_series(1, $1::int + 5001) n`,
    [kept],
  )
  expect(await removeOld(oldCalls(store.pool, 2 * DAY_MS, IS_CALL_OF_BATCH))).toBe(5_001)
  const { rows } = await store.pool.query(
    'select count(*)::int as left, max(id)::int as last from ferry.platform_calls',
  )
  expect(rows).toEqual([{ left: kept, last: kept }])
})

test('a batch of calls that are all young is the last one that is read', async () => {
  await using store = await openTestStore()
  await store.pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by)
     select 'a', 'a', 'list-alert-rules', now(), now() - (n > 5000)::int * interval '9 days' from generate_series(1, 5001) n`,
  )
  expect(await oldCalls(store.pool, 2 * DAY_MS, IS_CALL_OF_BATCH).remove(NEVER)).toBe(0)
})
