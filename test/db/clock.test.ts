import { afterEach, expect, test, vi } from 'vitest'
import { clockReading, readSetBackMs } from '#src/db/clock.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

afterEach(() => void vi.restoreAllMocks())

const NOW = Date.UTC(2026, 0, 1)

test.for([
  ['right', 0],
  ['ahead', 7_000],
  ['behind', -7_000],
] as const)('a clock that is %s is compared with the middle of the round trip', ([, aheadMs]) => {
  vi.spyOn(performance, 'now').mockReturnValue(10_400)
  vi.spyOn(Date, 'now').mockReturnValue(NOW + 200 + aheadMs)
  expect(clockReading(NOW, 10_000)).toEqual({ now: new Date(NOW), aheadMs, roundTripMs: 400 })
})

/** Adds calls that began so long from now, by the clock of the database. */
async function addCalls({ pool }: TestStore, count: number, begin: string): Promise<void> {
  await pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by)
     select 'k', 'a', 'list-alert-rules', clock_timestamp() + $2::interval, clock_timestamp() from generate_series(1, $1::int)`,
    [count, begin],
  )
}

test('the database was set back as far as its last thousand calls are ahead of it, and not if they are not', async () => {
  await using store = await openTestStore()
  expect(await readSetBackMs(store.pool)).toBe(0)
  await addCalls(store, 1, '-1 hour')
  expect(await readSetBackMs(store.pool)).toBe(0)
  await addCalls(store, 1, '2 hours')
  await addCalls(store, 999, '-1 hour')
  const setBackMs = await readSetBackMs(store.pool)
  expect(setBackMs).toBeGreaterThan(1.9 * 3_600_000)
  expect(setBackMs).toBeLessThanOrEqual(2 * 3_600_000)
  await addCalls(store, 1, '-1 hour')
  expect(await readSetBackMs(store.pool)).toBe(0)
})
