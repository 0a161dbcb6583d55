import { expect, test } from 'vitest'
import { recordCallEnd } from '#src/db/call-log.ts'
import { ageCalls } from '#test/support/call-log.ts'
import { reopenLimits } from '#test/support/closed-limits.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/*
 * What `ferry_internal.acquire_call_permit` and `ferry_internal.finish_call` make of a given call log. It is in minutes instead of seconds, so
 * that the time a busy machine takes to ask does not matter.
 */

const MINUTE = 60_000

/** A call that began and was answered so many minutes ago; one that was not answered counts until `countedBy`. */
type Logged = {
  readonly started?: number
  readonly finished?: number | null
  readonly countedBy?: number
  readonly key?: string
  readonly operation?: string
}

/** Writes the calls into the log; returns the id of the last. */
async function log(store: TestStore, ...calls: readonly Logged[]): Promise<bigint> {
  let id = 0n
  for (const {
    finished = null,
    started = finished ?? 0,
    countedBy = started,
    key = 'k',
    operation = 'list-alert-rules',
  } of calls) {
    const { rows } = await store.pool.query<{ id: string }>(
      `insert into ferry.platform_calls (limit_key, account, operation, started, finished, counted_by)
       select $1, 'a', $2, now() - $3 * interval '1 minute', now() - $4 * interval '1 minute',
         now() - $5 * interval '1 minute' returning id`,
      [key, operation, started, finished, countedBy],
    )
    id = BigInt(rows[0]!.id)
  }
  return id
}

/** A limit as the first permit leaves it. */
async function addLimit(store: TestStore, key = 'k', operation = 'list-alert-rules'): Promise<void> {
  await store.pool.query(
    'insert into ferry.platform_limits (limit_key, operation) values ($1, $2) on conflict do nothing',
    [key, operation],
  )
}

type Window = readonly [most: number, minutes: number]

/** In how many minutes there is a permit, to the nearest; null if one was taken. */
async function waitOf(store: TestStore, ...windows: readonly Window[]) {
  const { rows } = await store.pool.query<{
    call_id: string | null
    wait_ms: number | null
    poll_soon: boolean
  }>(`select * from ferry_internal.acquire_call_permit('k', 'list-alert-rules', 'a', null, $1, $2, 5000)`, [
    windows.map(([most]) => most),
    windows.map(([, minutes]) => minutes * MINUTE),
  ])
  const { call_id, wait_ms, poll_soon: pollSoon } = rows[0]!
  expect(call_id === null).toBe(wait_ms !== null)
  return { minutes: wait_ms === null ? null : Math.round(wait_ms / MINUTE), pollSoon }
}

const answered = (...minutesAgo: number[]): Logged[] => minutesAgo.map(finished => ({ finished }))

test('the wait is until the youngest calls that fill the window leave it, one by one', async () => {
  await using store = await openTestStore()
  await log(store, ...answered(55, 40, 25, 10))
  // Four calls within the hour where two are allowed: the second youngest must leave first.
  expect(await waitOf(store, [2, 60])).toEqual({ minutes: 35, pollSoon: false })
  expect(await waitOf(store, [1, 60])).toEqual({ minutes: 50, pollSoon: false })
  expect(await waitOf(store, [4, 60])).toEqual({ minutes: 5, pollSoon: false })
  expect(await waitOf(store, [2, 20])).toEqual({ minutes: null, pollSoon: false })
})

test('of several windows the one that takes longest decides, wherever it stands', async () => {
  await using store = await openTestStore()
  await log(store, ...answered(10))
  expect(await waitOf(store, [1, 60], [1, 15])).toMatchObject({ minutes: 50 })
  expect(await waitOf(store, [1, 15], [1, 60])).toMatchObject({ minutes: 50 })
  expect(await waitOf(store, [5, 60], [1, 15])).toMatchObject({ minutes: 5 })
})

test('a call in flight counts until its bound, one that was answered from its answer on', async () => {
  await using store = await openTestStore()
  await log(store, { started: 30, finished: 25, countedBy: -20 })
  expect(await waitOf(store, [1, 60])).toEqual({ minutes: 35, pollSoon: false })
  await log(store, { started: 10, countedBy: -20 })
  // It may end at any moment: then the wait is shorter, and it is worth asking again.
  expect(await waitOf(store, [1, 60])).toEqual({ minutes: 80, pollSoon: true })
  // An answer after the bound changes nothing: the platform had counted the call by then.
  await ageCalls(store.pool, '1 day')
  await log(store, { started: 50, finished: 5, countedBy: 45 })
  expect(await waitOf(store, [1, 60])).toEqual({ minutes: 15, pollSoon: false })
})

test('only calls of the same limit and operation count', async () => {
  await using store = await openTestStore()
  await log(store, { finished: 1, key: 'another' }, { finished: 1, operation: 'another' })
  expect(await waitOf(store, [1, 60])).toMatchObject({ minutes: null })
  expect(await waitOf(store, [1, 60])).toMatchObject({ minutes: 60 })
})

/** Ends a call that began so many minutes ago; the block of its limit and the strikes then. */
async function finish(
  store: TestStore,
  {
    status,
    isOverLimit = status === 429,
    answered = true,
    retryAfterMs = null,
    startedAgo = 0,
    key = 'k',
  }: {
    status: number | null
    isOverLimit?: boolean
    answered?: boolean
    retryAfterMs?: number | null
    startedAgo?: number
    key?: string
  },
) {
  await addLimit(store, key)
  const call = await log(store, { key, started: startedAgo, countedBy: -60 })
  await recordCallEnd(store.pool, call, {
    answeredAtMs: answered ? performance.now() : null,
    httpStatus: status,
    errorCode: null,
    isOverLimit,
    requestId: `request-${call}`,
    retryAfterMs,
  })
  return limit(store, key)
}

async function limit(store: TestStore, key = 'k') {
  const { rows } = await store.pool.query<{ strikes: number; seconds: number | null }>(
    `select strikes, extract(epoch from blocked_until - clock_timestamp())::float8 as seconds
     from ferry.platform_limits where limit_key = $1`,
    [key],
  )
  const { strikes, seconds } = rows[0]!
  return { strikes, isBlocked: (seconds ?? 0) > 0, seconds: seconds ?? 0 }
}

test('a refusal over the limit is one whatever its status, and each that comes after a block makes the next one longer', async () => {
  await using store = await openTestStore()
  expect(await finish(store, { status: 429, retryAfterMs: 300_000 })).toMatchObject({
    strikes: 1,
    isBlocked: true,
  })
  await reopenLimits(store.pool)
  const byCode = { status: 400, isOverLimit: true, retryAfterMs: 300_000 }
  expect(await finish(store, byCode)).toMatchObject({ strikes: 2, isBlocked: true })
  await reopenLimits(store.pool)
  for (let strike = 3; strike <= 12; strike++) {
    const after = await finish(store, { status: 429 })
    expect(after.strikes).toBe(strike)
    expect(after.seconds).toBeLessThanOrEqual(Math.min(60, 2 ** (strike - 1)))
    // From half a minute on: what a busy machine takes to look is nothing beside it.
    if (strike >= 6) expect(after.seconds).toBeGreaterThan(Math.min(60, 2 ** (strike - 1)) / 2)
    await reopenLimits(store.pool)
  }
})

test('the last of many blocks lasts a minute and no longer, Retry-After ten minutes and no longer', async () => {
  await using store = await openTestStore()
  for (let n = 0; n < 10; n++) {
    await finish(store, { status: 429 })
    await reopenLimits(store.pool)
  }
  const long = await finish(store, { status: 429 })
  expect(long.seconds).toBeGreaterThan(30)
  expect(long.seconds).toBeLessThanOrEqual(60)
  await reopenLimits(store.pool)
  const asked = await finish(store, { status: 429, retryAfterMs: 24 * 60 * MINUTE })
  expect(asked.seconds).toBeGreaterThan(570)
  expect(asked.seconds).toBeLessThanOrEqual(600)
  // What comes later asks for less: the block does not move back.
  expect((await finish(store, { status: 429, retryAfterMs: 1_000 })).seconds).toBeGreaterThan(540)
})

test('answers to calls sent before a block are one strike with it, and do not end the strikes either', async () => {
  await using store = await openTestStore()
  await finish(store, { status: 429, retryAfterMs: 300_000 })
  expect(await finish(store, { status: 429, startedAgo: 1 })).toMatchObject({ strikes: 1 })
  expect(await finish(store, { status: 200, startedAgo: 1 })).toMatchObject({ strikes: 1, isBlocked: true })
  await reopenLimits(store.pool)
  expect(await finish(store, { status: 200, startedAgo: 2 })).toMatchObject({ strikes: 1 })
  expect(await finish(store, { status: null, answered: false })).toMatchObject({ strikes: 1 })
  expect(await finish(store, { status: 200 })).toMatchObject({ strikes: 0 })
})

test('a 429 of one limit closes no other, nor another operation under the same key', async () => {
  await using store = await openTestStore()
  await addLimit(store, 'k', 'another')
  await finish(store, { status: 200, key: 'other' })
  await finish(store, { status: 429 })
  expect(await limit(store, 'other')).toMatchObject({ strikes: 0, isBlocked: false })
  const { rows } = await store.pool.query(
    'select operation, blocked_until is not null as closed from ferry.platform_limits where limit_key = $1 order by 1',
    ['k'],
  )
  expect(rows).toEqual([
    { operation: 'another', closed: false },
    { operation: 'list-alert-rules', closed: true },
  ])
})

test('only an answer of the platform ends a call: silence leaves it in flight', async () => {
  await using store = await openTestStore()
  await finish(store, { status: 502, answered: false })
  await finish(store, { status: 200 })
  const { rows } = await store.pool.query(
    'select finished is not null as ended from ferry.platform_calls order by id',
  )
  expect(rows).toEqual([{ ended: false }, { ended: true }])
})

test('who gives up while the log is asked keeps no permit', async () => {
  await using store = await openTestStore()
  const throttle = store.createThrottle({ limitKey: 'k', windows: [{ maxCalls: 1, windowMs: MINUTE }] })
  await addLimit(store)
  const gaveUp = new AbortController()
  const locking = await store.pool.connect()
  try {
    await locking.query('begin')
    await locking.query('select from ferry.platform_limits for update')
    const taking = throttle.acquirePermit(
      { account: 'a', operation: 'list-alert-rules', runId: null },
      gaveUp.signal,
    )
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%acquire_call_permit%'
      and datname = current_database()`
    await expect.poll(() => store.pool.query(waiting).then(found => found.rowCount)).toBe(1)
    gaveUp.abort(new Error('no longer wanted'))
    await expect(taking).rejects.toThrow('no longer wanted')
    await locking.query('commit')
  } finally {
    locking.release()
  }
  // The next in line is asked for after the one before has been given back.
  const next = throttle.acquirePermit(
    { account: 'a', operation: 'list-alert-rules', runId: null },
    AbortSignal.timeout(20_000),
  )
  await expect(next).resolves.toMatchObject({ callId: expect.anything() })
  const { rowCount } = await store.pool.query('select from ferry.platform_calls')
  expect(rowCount).toBe(1)
})
