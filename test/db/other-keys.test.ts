import { expect, test } from 'vitest'
import type { Call, Operation } from '#src/model/call.ts'
import { guardedMs, type Limit } from '#src/model/limit.ts'
import { answeredNow } from '#test/support/answered-now.ts'
import { ageCalls } from '#test/support/call-log.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/* Calls that other settings recorded under another key: the platform counts them all the same. */

const NEVER = new AbortController().signal
const WINDOWS = [
  { maxCalls: 2, windowMs: 1_000 },
  { maxCalls: 20, windowMs: 60_000 },
]
const LISTING: Operation = 'list-alert-rules'

/** What a window lasts by the database's clock, which may gain by a hundredth. */
const WINDOW_MS = 60_600
const BOUND_MS = 5_000

const NEW: Limit = { limitKey: 'account:new', windows: WINDOWS, accounts: ['eu', 'us'] }

/** For how long calls count that were recorded under other keys, in milliseconds; 0 if there are none. */
async function countedElsewhere(
  { pool }: TestStore,
  { limitKey, windows, accounts }: Limit,
): Promise<number> {
  const { rows } = await pool.query<{ ms: number | null }>(
    `select extract(epoch from max(free_at) - now())::float8 * 1000 as ms
     from ferry_internal.counted_elsewhere($1, $2, $3, $4, now())`,
    [limitKey, LISTING, accounts, windows.map(({ windowMs }) => guardedMs(windowMs))],
  )
  return rows[0]?.ms ?? 0
}

/** A call under an earlier key, as another process makes it. */
async function callBefore(
  store: TestStore,
  { account = 'eu', operation = LISTING, isAnswered = true, limitKey = 'account:old' } = {},
) {
  const throttle = store.createThrottle({ limitKey, windows: WINDOWS }, BOUND_MS)
  const call: Call = { account, operation, runId: null }
  const permit = await throttle.acquirePermit(call, NEVER)
  if (isAnswered) await throttle.finishCall(permit, answeredNow())
}

test.for([
  ['of the account', {}, WINDOW_MS],
  ['of another account that shares the limit', { account: 'us' }, WINDOW_MS],
  ['that has no answer yet', { isAnswered: false }, WINDOW_MS + BOUND_MS * 1.01],
  ['of an account that does not share it', { account: 'asia' }, 0],
  ['of another operation', { operation: 'list-mcp-servers' as const }, 0],
] as const)('a call %s counts elsewhere for as long as the longest window', async ([, call, longestMs]) => {
  await using store = await openTestStore()
  await callBefore(store, call)
  const ms = await countedElsewhere(store, NEW)
  expect(ms).toBeLessThanOrEqual(longestMs)
  expect(ms).toBeGreaterThanOrEqual(longestMs && longestMs - 30_000)
  await ageCalls(store.pool, `${longestMs} ms`)
  expect(await countedElsewhere(store, NEW)).toBe(0)
})

test('the last of several decides, those under the same key do not count, and who shares nothing asks nothing', async () => {
  await using store = await openTestStore()
  await callBefore(store)
  await ageCalls(store.pool, '50 s')
  await callBefore(store)
  expect(await countedElsewhere(store, NEW)).toBeGreaterThan(30_000)
  await ageCalls(store.pool, '50 s')
  await callBefore(store, { account: 'us', limitKey: 'account:us' })
  expect(await countedElsewhere(store, NEW)).toBeGreaterThan(30_000)
  expect(await countedElsewhere(store, { ...NEW, limitKey: 'account:us' })).toBeLessThan(30_000)
  await ageCalls(store.pool, '50 s')
  expect(await countedElsewhere(store, { ...NEW, limitKey: 'account:us' })).toBe(0)
  expect(await countedElsewhere(store, { ...NEW, accounts: [] })).toBe(0)
  await ageCalls(store.pool, '1 hour')
  await callBefore(store, { operation: 'list-mcp-servers' })
  expect(await countedElsewhere(store, NEW)).toBe(0)
})

test('a permit waits until what counts elsewhere has left every window', async () => {
  await using store = await openTestStore()
  const windows = [{ maxCalls: 5, windowMs: 400 }]
  const open = (limitKey: string) => store.createThrottle({ limitKey, windows, accounts: ['eu'] })
  const call: Call = { account: 'eu', operation: LISTING, runId: null }
  const [before, after] = [open('account:old'), open('account:new')]
  await before.finishCall(await before.acquirePermit(call, NEVER), answeredNow())
  await after.finishCall(await after.acquirePermit(call, NEVER), answeredNow())
  // And the other way round: a process that goes on with the earlier settings.
  await before.acquirePermit(call, NEVER)
  const { rows } = await store.pool.query<{ ms: number }>(
    `select extract(epoch from c.started - b.finished)::float8 * 1000 as ms
     from ferry.platform_calls c join ferry.platform_calls b on b.id = c.id - 1 order by c.id`,
  )
  expect(rows).toHaveLength(2)
  for (const { ms } of rows) expect(ms).toBeGreaterThanOrEqual(404)
})
