import { expect, test } from 'vitest'
import { createThrottle } from '#src/db/call-log.ts'
import type { ClosedLimit } from '#src/db/closed-limits.ts'
import { answeredNow } from '#test/support/answered-now.ts'
import { reopenLimits } from '#test/support/closed-limits.ts'
import { openTestStore } from '#test/support/store.ts'

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
      answeredNow({ httpStatus: 429, isOverLimit: true, retryAfterMs: 60_000, requestId }),
    )
  }
  const wait = () => throttle.acquirePermit(CALL, AbortSignal.timeout(1_000)).catch(() => {})
  await refuse('first')
  await wait()
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
  await wait()
  expect(reported.map(({ requestId }) => requestId)).toEqual(['first', 'third'])
})
