import { expect, test } from 'vitest'
import { loadLimitUse } from '#src/db/limit-use.ts'
import { reopenLimits } from '#test/support/closed-limits.ts'
import { openTestStore } from '#test/support/store.ts'

const WINDOWS = [
  { maxCalls: 2, windowMs: 10_000 },
  { maxCalls: 20, windowMs: 600_000 },
]
const LIMITS = ['a', 'b', 'a'].map((limitKey, n) => ({
  operation: n === 2 ? 'other' : 'import',
  limit: { limitKey, windows: WINDOWS },
}))

test('the use of a limit is that of its fullest window, and it is closed until a time that is to come', async () => {
  await using store = await openTestStore()
  await store.pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished)
     select 'a', 'a', 'import', now() - interval '1 min', now() - interval '1 min', now() - interval '1 min' from generate_series(1, 12)`,
  )
  await store.pool.query(
    `insert into ferry.platform_limits (limit_key, operation, blocked_until) values ('a', 'import', now() + interval '5 min')`,
  )
  const open = { used: 0, closedUntil: null }
  expect(await loadLimitUse(store.pool, LIMITS)).toEqual([
    { used: 0.6, closedUntil: expect.any(Date) },
    open,
    open,
  ])
  await reopenLimits(store.pool)
  expect(await loadLimitUse(store.pool, LIMITS)).toEqual([{ used: 0.6, closedUntil: null }, open, open])
  expect(await loadLimitUse(store.pool, LIMITS.toReversed())).toEqual([
    open,
    open,
    { used: 0.6, closedUntil: null },
  ])
  // Of the narrow window too.
  await store.pool.query('update ferry.platform_calls set finished = now(), counted_by = now() where id <= 2')
  const [now] = await loadLimitUse(store.pool, LIMITS)
  expect(now?.used).toBe(1)
})
