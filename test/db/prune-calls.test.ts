import { expect, test } from 'vitest'
import { oldCalls } from '#src/db/prune-calls.ts'
import { IS_CALL_OF_BATCH } from '#src/imports/control/purge.ts'
import { ageCalls } from '#test/support/call-log.ts'
import { DAY_MS, removeOld } from '#test/support/prune.ts'
import { openTestStore } from '#test/support/store.ts'

const NEVER = new AbortController().signal

test('old calls are removed, younger ones and those of imports stay', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle({ limitKey: 'k', windows: [{ maxCalls: 9, windowMs: 1_000 }] })
  const call = async () =>
    (await throttle.acquirePermit({ account: 'a', operation: 'list', runId: null }, NEVER)).callId
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
