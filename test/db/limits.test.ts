import { expect, test } from 'vitest'
import { createThrottle } from '#src/db/call-log.ts'
import { OwnCall } from '#src/db/known-database.ts'
import { type ClosedLimit, findClosedLimit, loadLimitState, loadLimitUse } from '#src/db/limits.ts'
import type { Limit } from '#src/model/limit.ts'
import { answeredNow } from '#test/support/answered-now.ts'
import { reopenLimits } from '#test/support/closed-limits.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

const OPERATION = 'import-subscribers'
const LIMIT: Limit = {
  limitKey: 'account:a',
  windows: [
    { maxCalls: 2, windowMs: 60_000 },
    { maxCalls: 4, windowMs: 600_000 },
  ],
}

type Call = { key?: string; operation?: string; startedAgoMs: number; tookMs: number | null }

async function call(store: TestStore, { key = LIMIT.limitKey, operation = OPERATION, ...times }: Call) {
  await store.pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished)
     select $1, 'a', $2, at, at + interval '100 s', at + $4::float8 * interval '1 ms'
     from (select clock_timestamp() - $3 * interval '1 ms' as at) t`,
    [key, operation, times.startedAgoMs, times.tookMs],
  )
}

/** The test itself takes time. */
const about = (ms: number) => expect.toSatisfy(value => value > ms - 10_000 && value < ms + 10_000)

test('a limit that nobody used lets the next call begin at once', async () => {
  await using store = await openTestStore()
  const unused = { waitMs: 0, closedMs: 0, hasRefused: false, counted: 0, countedForMs: 0 }
  expect(await loadLimitState(store.pool, LIMIT, OPERATION)).toEqual(unused)
  // Calls of another limit, of another operation, and those that every window has forgotten.
  for (const startedAgoMs of [1_000, 2_000, 3_000, 4_000]) {
    await call(store, { key: 'account:b', startedAgoMs, tookMs: 10 })
    await call(store, { operation: 'list-alert-rules', startedAgoMs, tookMs: 10 })
    await call(store, { startedAgoMs: startedAgoMs + 700_000, tookMs: 10 })
  }
  expect(await loadLimitState(store.pool, LIMIT, OPERATION)).toEqual(unused)
})

test('the next call waits for the window that is full longest, and the longest window says how many count', async () => {
  await using store = await openTestStore()
  await call(store, { startedAgoMs: 300_000, tookMs: 20_000 })
  await call(store, { startedAgoMs: 40_000, tookMs: 10_000 })
  expect(await loadLimitState(store.pool, LIMIT, OPERATION)).toEqual({
    waitMs: 0,
    closedMs: 0,
    hasRefused: false,
    counted: 2,
    countedForMs: about(300_000),
  })
  // The third call of ten minutes is the second of this minute: the first of the two must be forgotten.
  await call(store, { startedAgoMs: 20_000, tookMs: 10_000 })
  expect(await loadLimitState(store.pool, LIMIT, OPERATION)).toMatchObject({
    waitMs: about(30_000),
    counted: 3,
  })
  // The fourth fills the long window: until the answer of its first call is ten minutes old.
  await call(store, { startedAgoMs: 10_000, tookMs: null })
  const state = await loadLimitState(store.pool, LIMIT, OPERATION)
  expect(state).toMatchObject({ waitMs: about(320_000), closedMs: 0, counted: 4 })
})

test('a refusal closes the limit of its operation, and the later of both ends counts', async () => {
  await using store = await openTestStore()
  const block = (key: string, operation: string, seconds: number) =>
    store.pool.query(
      `insert into ferry.platform_limits (limit_key, operation, blocked_until)
       values ($1, $2, clock_timestamp() + $3 * interval '1 s')`,
      [key, operation, seconds],
    )
  await block('account:b', OPERATION, 500)
  await block(LIMIT.limitKey, 'list-alert-rules', 500)
  expect(await loadLimitState(store.pool, LIMIT, OPERATION)).toMatchObject({ waitMs: 0, closedMs: 0 })
  await block(LIMIT.limitKey, OPERATION, 200)
  const closed = { waitMs: about(200_000), closedMs: about(200_000) }
  expect(await loadLimitState(store.pool, LIMIT, OPERATION)).toMatchObject(closed)
  for (const startedAgoMs of [300_000, 299_000, 298_000, 297_000])
    await call(store, { startedAgoMs, tookMs: 10 })
  const full = { waitMs: about(300_000), closedMs: about(200_000), counted: 4 }
  expect(await loadLimitState(store.pool, LIMIT, OPERATION)).toMatchObject(full)
})

test('a call counts for as long as the throttle counts it: a little longer than the window, as clocks may gain', async () => {
  await using store = await openTestStore()
  const long = { limitKey: LIMIT.limitKey, windows: [{ maxCalls: 1, windowMs: 6_000_000 }] }
  await call(store, { startedAgoMs: 6_030_000, tookMs: 0 })
  expect(await loadLimitState(store.pool, long, OPERATION)).toMatchObject({
    waitMs: about(30_000),
    counted: 1,
  })
})

const CALL = { account: 'test', operation: 'list-alert-rules', runId: null } as const

test('a call that waits for a limit the platform closed reports it once, with the request_id, until the platform answers again', async () => {
  await using store = await openTestStore()
  const reported: ClosedLimit[] = []
  const throttle = createThrottle(store.pool, {
    limitOf: () => ({ limitKey: 'key', windows: [{ maxCalls: 9, windowMs: 1_000 }] }),
    arrivalBoundMs: 5_000,
    ownCall: new OwnCall(),
    noticeDatabase: async () => null,
    onClosed: (_, closed) => reported.push(closed),
  })
  const refuse = async (requestId: string) => {
    const permit = await throttle.acquirePermit(CALL, new AbortController().signal)
    await throttle.finishCall(
      permit,
      answeredNow({ httpStatus: 429, isOverLimit: true, retryAfterMs: 600_000, requestId }),
    )
  }
  /** Waits for a permit until the limit was reported so often. */
  const waitUntilReported = async (times: number) => {
    const gaveUp = new AbortController()
    const acquiring = throttle.acquirePermit(CALL, gaveUp.signal).catch(() => {})
    await waitFor(() => reported.length === times, { what: 'the limit to be reported' })
    gaveUp.abort()
    await acquiring
  }
  const wait = () => throttle.acquirePermit(CALL, AbortSignal.timeout(500)).catch(() => {})
  await refuse('first')
  await waitUntilReported(1)
  await wait()
  expect(reported.map(({ requestId }) => requestId)).toEqual(['first'])
  await reopenLimits(store.pool)
  await refuse('second')
  await wait()
  expect(reported).toHaveLength(1)
  await reopenLimits(store.pool)
  const permit = await throttle.acquirePermit(CALL, new AbortController().signal)
  await throttle.finishCall(permit, answeredNow())
  await refuse('third')
  await waitUntilReported(2)
  expect(reported.map(({ requestId }) => requestId)).toEqual(['first', 'third'])
})

test('a limit is closed for one operation, until its time is over', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle({ limitKey: 'key', windows: [{ maxCalls: 9, windowMs: 1_000 }] })
  const permit = await throttle.acquirePermit(CALL, new AbortController().signal)
  const end = { httpStatus: 429, isOverLimit: true, retryAfterMs: 600_000, requestId: 'r1' }
  await throttle.finishCall(permit, answeredNow(end))
  const closed = (operation: string, key = 'key') => findClosedLimit(store.pool, key, operation)
  expect(await closed(CALL.operation)).toEqual({ until: expect.any(Date), requestId: 'r1', hasRefused: true })
  expect(await closed('list-mcp-servers')).toBeNull()
  expect(await closed(CALL.operation, 'other')).toBeNull()
  await reopenLimits(store.pool)
  expect(await closed(CALL.operation)).toBeNull()
})

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

test('reports see each call once, with its own limit, and no key of a limit', async () => {
  await using store = await openTestStore()
  for (const [key, operation, perMinute] of [
    ['a', OPERATION, 60],
    ['a', 'list-alert-rules', 120],
    ['b', OPERATION, 30],
  ])
    await store.pool.query(
      'insert into ferry.platform_limits (limit_key, operation, calls_per_minute) values ($1, $2, $3)',
      [key, operation, perMinute],
    )
  await call(store, { key: 'a', startedAgoMs: 3_000, tookMs: 10 })
  await call(store, { key: 'a', operation: 'list-alert-rules', startedAgoMs: 2_000, tookMs: 10 })
  await call(store, { key: 'b', startedAgoMs: 1_000, tookMs: null })
  await store.pool.query('update ferry.platform_calls set http_status = 200, batch_id = 7 where id = 2')
  const { rows } = await store.pool.query(
    `select to_jsonb(v) - '{limit_id}'::text[] as seen, to_jsonb(c) as call, l.limit_key || ' ' || l.operation as limit
     from ferry_internal.limited_calls v join ferry.platform_calls c on c.id = v.id
     join ferry.platform_limits l on l.id = v.limit_id order by v.id`,
  )
  expect(rows.map(({ limit }) => limit)).toEqual([`a ${OPERATION}`, 'a list-alert-rules', `b ${OPERATION}`])
  for (const [n, { seen, call: whole }] of rows.entries()) {
    const { id, account, operation, started, counted_by, finished, http_status, batch_id } = whole
    const known = { id, account, operation, started, counted_by, finished, http_status, batch_id }
    expect(seen).toEqual({ ...known, calls_per_minute: [60, 120, 30][n] })
  }
})
