import { expect, test } from 'vitest'
import type { CallEnd } from '#src/model/call.ts'
import type { Limit } from '#src/model/limit.ts'
import { answeredNow } from '#test/support/answered-now.ts'
import { closedForMs, reopenLimits } from '#test/support/closed-limits.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

const CALL = { account: 'test', operation: 'list-alert-rules', runId: null } as const
const overLimitNow = (end: Partial<CallEnd> = {}) =>
  answeredNow({ httpStatus: 429, errorCode: 'RequestTooFrequently', isOverLimit: true, ...end })
const NEVER = new AbortController().signal

const LONG_MS = 600_000

/** For how many whole seconds the last refusal closed a limit, from its answer on. */
async function closedForS(store: TestStore, limitKey: string): Promise<number | undefined> {
  const { rows } = await store.pool.query<{ s: number }>(
    `select floor(extract(epoch from l.blocked_until - c.finished))::int as s
     from ferry.platform_limits l join ferry.platform_calls c on c.id = l.blocked_by where l.limit_key = $1`,
    [limitKey],
  )
  return rows[0]?.s
}

test('a 429 closes the operation for every worker, by Retry-After or by a back-off that grows and never shrinks', async () => {
  await using store = await openTestStore()
  const limit: Limit = { limitKey: 'someone else', windows: [{ maxCalls: 100, windowMs: 1000 }] }
  const throttle = store.createThrottle(limit)
  const isClosedForLong = async () => (await closedForMs(store.pool, limit.limitKey)) > LONG_MS / 2
  const backOffS = () => closedForS(store, limit.limitKey)
  const three = await Promise.all([
    throttle.acquirePermit(CALL, NEVER),
    throttle.acquirePermit(CALL, NEVER),
    throttle.acquirePermit(CALL, NEVER),
  ])

  await throttle.finishCall(three[0]!, overLimitNow({ retryAfterMs: LONG_MS }))
  expect(await isClosedForLong()).toBe(true)
  await throttle.finishCall(three[1]!, overLimitNow())
  expect(await isClosedForLong()).toBe(true)
  await expect(store.createThrottle(limit).acquirePermit(CALL, AbortSignal.timeout(100))).rejects.toThrow()

  await reopenLimits(store.pool)
  await throttle.finishCall(await throttle.acquirePermit(CALL, NEVER), overLimitNow())
  expect(await backOffS()).toBe(2)

  await reopenLimits(store.pool)
  await throttle.finishCall(await throttle.acquirePermit(CALL, NEVER), answeredNow())
  await throttle.finishCall(await throttle.acquirePermit(CALL, NEVER), overLimitNow())
  expect(await backOffS()).toBe(1)
})

test('an answer ends the strikes of its own limit, operation by operation, and of no other', async () => {
  await using store = await openTestStore()
  const windows = [{ maxCalls: 100, windowMs: 1000 }]
  const [one, other] = ['one', 'other'].map(limitKey => store.createThrottle({ limitKey, windows }))
  const calls = [CALL, { ...CALL, operation: 'list-mcp-servers' } as const]
  for (const throttle of [one!, other!])
    for (const call of calls)
      await throttle.finishCall(await throttle.acquirePermit(call, NEVER), overLimitNow())
  await reopenLimits(store.pool)
  await one!.finishCall(await one!.acquirePermit(CALL, NEVER), answeredNow())
  const { rows } = await store.pool.query(
    'select limit_key, operation, strikes from ferry.platform_limits order by 1, 2',
  )
  expect(rows.map(({ limit_key, operation, strikes }) => `${limit_key} ${operation} ${strikes}`)).toEqual([
    'one list-alert-rules 0',
    'one list-mcp-servers 1',
    'other list-alert-rules 1',
    'other list-mcp-servers 1',
  ])
})

test('a Retry-After may lengthen the back-off, never shorten it, and closes nothing for longer than ten minutes', async () => {
  await using store = await openTestStore()
  const backOffS = async (retryAfterMs: number) => {
    const limitKey = `asks for ${retryAfterMs} ms`
    const throttle = store.createThrottle({ limitKey, windows: [{ maxCalls: 100, windowMs: 1000 }] })
    await throttle.finishCall(await throttle.acquirePermit(CALL, NEVER), overLimitNow({ retryAfterMs }))
    return closedForS(store, limitKey)
  }
  expect(await backOffS(0)).toBe(1)
  expect(await backOffS(1e23)).toBe(600)
})

test('every call is a row with its answer', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle({ limitKey: 'log', windows: [{ maxCalls: 10, windowMs: 1000 }] })
  const permit = await throttle.acquirePermit({ ...CALL, runId: 7n }, NEVER)
  await throttle.finishCall(
    permit,
    answeredNow({ httpStatus: 500, errorCode: 'InternalError', requestId: 'req-1' }),
  )
  const { rows } = await store.pool.query(
    `select account, operation, run_id, http_status, error_code, request_id, finished >= started as finished,
       counted_by - started as bound from ferry.platform_calls`,
  )
  expect(rows).toMatchObject([
    {
      account: 'test',
      operation: 'list-alert-rules',
      run_id: '7',
      http_status: 500,
      error_code: 'InternalError',
      request_id: 'req-1',
      finished: true,
      bound: { seconds: 5 },
    },
  ])
})
