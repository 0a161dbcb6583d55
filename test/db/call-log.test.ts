import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CallEnd } from '#src/model/call.ts'
import { answeredNow } from '#test/support/answered-now.ts'
import { ageCalls } from '#test/support/call-log.ts'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

const CALL = { account: 'test', operation: 'list-alert-rules', runId: null } as const
const overLimitNow = (end: Partial<CallEnd> = {}) =>
  answeredNow({ httpStatus: 429, errorCode: 'RequestTooFrequently', isOverLimit: true, ...end })
const UNANSWERED = answeredNow({
  answeredAtMs: null,
  httpStatus: null,
  errorCode: 'NoAnswer',
  requestId: null,
})
const NEVER = new AbortController().signal

/** A minute is longer than any permit here may take, and shorter than the windows that must not give one. */
const atOnce = () => AbortSignal.timeout(60_000)
const LONG_MS = 600_000

/** By how many milliseconds the call of one number began after the one before it of another, by the clock of the log. */
async function beganAfterMs(store: TestStore, later: number, earlier: number): Promise<number> {
  const { rows } = await store.pool.query<{ ms: number }>(
    `select extract(epoch from l.started - e.started)::float8 * 1000 as ms from ferry.platform_calls l, ferry.platform_calls e
     where l.id = $1 and e.id = $2`,
    [later, earlier],
  )
  return rows[0]!.ms
}

/** The largest number of instants in any window of `windowMs`. */
function maxInAnyWindow(instants: readonly number[], windowMs: number): number {
  const sorted = [...instants].sort((a, b) => a - b)
  return Math.max(
    0,
    ...sorted.map((first, n) => sorted.filter((at, m) => m >= n && at - first < windowMs).length),
  )
}

test('never more calls are counted in any rolling window than the limit allows, however answers are delayed', async () => {
  await using store = await openTestStore()
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        shortMost: fc.integer({ min: 1, max: 4 }),
        longMost: fc.integer({ min: 3, max: 9 }),
        workers: fc.integer({ min: 1, max: 5 }),
        jitterMs: fc.integer({ min: 0, max: 25 }),
        key: fc.uuid(),
      }),
      async ({ shortMost, longMost, workers, jitterMs, key }) => {
        const windows = [
          { maxCalls: shortMost, windowMs: 60 },
          { maxCalls: longMost, windowMs: 300 },
        ]
        const counted: number[] = []
        const throttles = Array.from({ length: workers }, () =>
          // A call is counted within the bound, however busy this machine is.
          store.createThrottle({ limitKey: key, windows }, LONG_MS),
        )
        const jitter = () => delay(Math.random() * jitterMs)
        await Promise.all(
          Array.from({ length: 14 }, async (_, n) => {
            const throttle = throttles[n % workers]!
            const permit = await throttle.acquirePermit(CALL, NEVER)
            await jitter()
            counted.push(performance.now())
            await jitter()
            await throttle.finishCall(permit, answeredNow())
          }),
        )
        expect(counted).toHaveLength(14)
        for (const { maxCalls, windowMs } of windows) {
          expect(maxInAnyWindow(counted, windowMs)).toBeLessThanOrEqual(maxCalls)
        }
      },
    ),
    { numRuns: 12 },
  )
})

test('callers of one moment get what the window has room for in one transaction, and end in one', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle({ limitKey: 'many', windows: [{ maxCalls: 5, windowMs: 400 }] })
  const transactions = async () => {
    const { rows } = await store.pool.query<{ calls: number; transactions: number; runs: string[] }>(
      `select count(*)::int as calls, count(distinct xmin::text)::int as transactions,
         array_agg(account || ' ' || run_id order by id) as runs from ferry.platform_calls`,
    )
    return rows[0]!
  }
  const accounts = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const waiting = accounts.map((account, n) =>
    throttle.acquirePermit({ ...CALL, account, runId: BigInt(n) }, NEVER),
  )
  const five = await Promise.all(waiting.slice(0, 5))
  expect(five.map(permit => permit.call.account)).toEqual(accounts.slice(0, 5))
  expect(await transactions()).toEqual({
    calls: 5,
    transactions: 1,
    runs: ['a 0', 'b 1', 'c 2', 'd 3', 'e 4'],
  })

  await Promise.all(five.map(permit => throttle.finishCall(permit, answeredNow())))
  expect(await transactions()).toMatchObject({ calls: 5, transactions: 1 })
  await Promise.all(waiting)
  expect(await transactions()).toMatchObject({ calls: 7 })
  const { rows } = await store.pool.query(
    `select started - (select min(finished) from ferry.platform_calls) >= interval '400 ms' as waited
     from ferry.platform_calls order by id offset 5`,
  )
  expect(rows).toEqual([{ waited: true }, { waited: true }])
})

test('a call counts until its answer came, however late the log is told of it, and never until before it began', async () => {
  await using store = await openTestStore()
  const limit = { limitKey: 'told late', windows: [{ maxCalls: 1, windowMs: 60_000 }] }
  const throttle = store.createThrottle(limit)
  const countsForS = async (endedAgoS: number) => {
    const permit = await throttle.acquirePermit(CALL, NEVER)
    await ageCalls(store.pool, '5 minutes')
    await throttle.finishCall(permit, answeredNow({ answeredAtMs: performance.now() - endedAgoS * 1_000 }))
    const { rows } = await store.pool.query<{ s: number }>(
      `delete from ferry.platform_calls returning extract(epoch from finished - started)::float8 as s`,
    )
    return rows[0]?.s
  }
  // What the log takes to be told lies between: a busy machine may take long.
  const countedS = await countsForS(200)
  expect(countedS).toBeGreaterThan(100)
  expect(countedS).toBeLessThan(200)
  expect(await countsForS(301)).toBe(0)
})

test('each of the calls that end together is recorded with its own end', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle({ limitKey: 'ends', windows: [{ maxCalls: 9, windowMs: 1000 }] })
  const ends = [answeredNow(), overLimitNow({ requestId: 'r2', retryAfterMs: LONG_MS }), UNANSWERED]
  await Promise.all(
    ends.map(async end => throttle.finishCall(await throttle.acquirePermit(CALL, NEVER), end)),
  )
  const { rows } = await store.pool.query(
    `select finished is not null as answered, http_status, error_code, request_id,
       (select blocked_until > clock_timestamp() + interval '5 min' from ferry.platform_limits) as closed
     from ferry.platform_calls order by id`,
  )
  expect(rows).toEqual([
    { answered: true, http_status: 200, error_code: null, request_id: 'r', closed: true },
    { answered: true, http_status: 429, error_code: 'RequestTooFrequently', request_id: 'r2', closed: true },
    { answered: false, http_status: null, error_code: 'NoAnswer', request_id: null, closed: true },
  ])
})

test('a call that nobody finished counts until the arrival bound and the window are over, then no more', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle(
    { limitKey: 'dead worker', windows: [{ maxCalls: 1, windowMs: 100 }] },
    300,
  )
  await throttle.acquirePermit(CALL, NEVER)
  await throttle.acquirePermit(CALL, NEVER)
  expect(await beganAfterMs(store, 2, 1)).toBeGreaterThanOrEqual(400)
})

test('a call that ended without an answer of the platform counts until the arrival bound and the window are over', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle({ limitKey: 'reset', windows: [{ maxCalls: 1, windowMs: 100 }] }, 300)
  const permit = await throttle.acquirePermit(CALL, NEVER)
  await throttle.finishCall(permit, UNANSWERED)
  await throttle.acquirePermit(CALL, NEVER)
  expect(await beganAfterMs(store, 2, 1)).toBeGreaterThanOrEqual(400)
  const { rows } = await store.pool.query(
    'select finished, error_code from ferry.platform_calls order by id limit 1',
  )
  expect(rows).toEqual([{ finished: null, error_code: 'NoAnswer' }])
})

test('an answer that comes after the arrival bound does not count for longer', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle(
    { limitKey: 'slow platform', windows: [{ maxCalls: 1, windowMs: LONG_MS }] },
    5_000,
  )
  const permit = await throttle.acquirePermit(CALL, NEVER)
  await ageCalls(store.pool, '10 minutes 5 seconds')
  await throttle.finishCall(permit, answeredNow())
  await expect(throttle.acquirePermit(CALL, atOnce())).resolves.toMatchObject({ call: CALL })
})

test('a permit that was returned does not count', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle({
    limitKey: 'given back',
    windows: [{ maxCalls: 1, windowMs: LONG_MS }],
  })
  await throttle.returnPermit(await throttle.acquirePermit(CALL, NEVER))
  await throttle.acquirePermit(CALL, atOnce())
})

test('a caller that gives up waiting is rejected at once and holds no permit', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle({ limitKey: 'gives up', windows: [{ maxCalls: 1, windowMs: 200 }] })
  await throttle.finishCall(await throttle.acquirePermit(CALL, NEVER), answeredNow())
  const gaveUp = new AbortController()
  const first = throttle.acquirePermit(CALL, gaveUp.signal)
  const inLine = throttle.acquirePermit(CALL, gaveUp.signal)
  gaveUp.abort(new Error('no longer wanted'))
  await expect(first).rejects.toThrow('no longer wanted')
  await expect(inLine).rejects.toThrow('no longer wanted')
  await throttle.acquirePermit(CALL, NEVER)
  const { rows } = await store.pool.query('select count(*)::int as calls from ferry.platform_calls')
  expect(rows).toEqual([{ calls: 2 }])
})

test('a caller that gives up while its permit is being recorded holds no permit', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle({ limitKey: 'late', windows: [{ maxCalls: 9, windowMs: 200 }] })
  await throttle.acquirePermit(CALL, NEVER)
  const other = await store.openPool().connect()
  await other.query('begin; select from ferry.platform_limits for update')
  const gaveUp = new AbortController()
  const acquired = throttle.acquirePermit(CALL, gaveUp.signal)
  await waitFor(async () => ((await store.pool.query(WAITING_FOR_LOCK)).rowCount ?? 0) > 0, {
    what: 'the lock',
  })
  gaveUp.abort(new Error('no longer wanted'))
  await expect(acquired).rejects.toThrow('no longer wanted')
  await other.query('commit')
  other.release()
  await throttle.acquirePermit(CALL, NEVER)
  const { rows } = await store.pool.query('select count(*)::int as calls from ferry.platform_calls')
  expect(rows).toEqual([{ calls: 2 }])
})

test('operations and limit keys do not wait for each other', async () => {
  await using store = await openTestStore()
  const pools = { limitKey: 'a', windows: [{ maxCalls: 1, windowMs: LONG_MS }] }
  const throttle = store.createThrottle(pools)
  await throttle.acquirePermit(CALL, NEVER)
  await throttle.acquirePermit({ ...CALL, operation: 'list-mcp-servers' }, atOnce())
  await store.createThrottle({ ...pools, limitKey: 'b' }).acquirePermit(CALL, atOnce())
})
