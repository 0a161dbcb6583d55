import { expect, test } from 'vitest'
import { createThrottle } from '#src/db/call-log.ts'
import { type ClosedLimit, findClosedLimit } from '#src/db/closed-limits.ts'
import { answeredNow } from '#test/support/answered-now.ts'
import { reopenLimits } from '#test/support/closed-limits.ts'
import { openTestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

const CALL = { account: 'test', operation: 'list-alert-rules', runId: null } as const

test('a call that waits for a limit the platform closed reports it once, with the request_id, until the platform answers again', async () => {
  await using store = await openTestStore()
  const reported: ClosedLimit[] = []
  const throttle = createThrottle(store.pool, {
    limitOf: () => ({ limitKey: 'key', windows: [{ maxCalls: 9, windowMs: 1_000 }] }),
    arrivalBoundMs: 5_000,
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
  expect(await closed(CALL.operation)).toEqual({ until: expect.any(Date), requestId: 'r1' })
  expect(await closed('list-mcp-servers')).toBeNull()
  expect(await closed(CALL.operation, 'other')).toBeNull()
  await reopenLimits(store.pool)
  expect(await closed(CALL.operation)).toBeNull()
})
