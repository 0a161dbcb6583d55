import { expect, test } from 'vitest'
import { sql } from '#src/db/drizzle.ts'
import { removeInBatches } from '#src/db/prune.ts'
import { oldCalls } from '#src/db/prune-calls.ts'
import { DAY_MS, removeOld } from '#test/support/prune.ts'
import { openTestStore } from '#test/support/store.ts'

const NEVER = new AbortController().signal

test('batches are removed up to the last one, and their rows summed', async () => {
  const sizes = [3, 3, 0, 1]
  const batch = async () => {
    const removed = sizes.shift() ?? 0
    return { removed, isLast: sizes.length === 0 }
  }
  expect(await removeInBatches(batch, NEVER)).toBe(7)
  expect(sizes).toEqual([])
})

test('once it is stopped, no further batch is removed', async () => {
  const stop = new AbortController()
  let batches = 0
  const batch = async () => {
    batches += 1
    if (batches === 2) stop.abort()
    return { removed: 1, isLast: batches > 9 }
  }
  expect(await removeInBatches(batch, stop.signal)).toBe(2)
  expect(batches).toBe(2)
})

test('more old calls than one batch holds are all removed', async () => {
  await using store = await openTestStore()
  await store.pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by)
     select 'a', 'a', 'list-alert-rules', now() - interval '9 days', now() - interval '9 days' from generate_series(1, 5001)`,
  )
  expect(await removeOld(oldCalls(store.pool, 2 * DAY_MS, sql`false`))).toBe(5_001)
})
