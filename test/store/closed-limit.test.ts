import { expect, test } from 'vitest'
import { type Closed, openThrottle } from '#src/store/throttle.ts'
import { openTestStore } from '#test/support/store.ts'

const CALL = { account: 'test', operation: 'list-alert-rules', runId: null } as const
const END = { answered: true, errorCode: null, retryAfterMs: 60_000 }

test('a call that waits for a limit the platform closed says so once, with the request_id, until it answers again', async () => {
  await using store = await openTestStore()
  const said: Closed[] = []
  const throttle = openThrottle(store.pool, {
    limitOf: () => ({ limitKey: 'key', windows: [{ most: 9, windowMs: 1_000 }] }),
    arrivalBoundMs: 5_000,
    onClosed: (_, closed) => said.push(closed),
  })
  const refuse = async (requestId: string) => {
    const permit = await throttle.take(CALL, new AbortController().signal)
    await throttle.finish(permit, { ...END, httpStatus: 429, requestId })
  }
  const wait = () => throttle.take(CALL, AbortSignal.timeout(1_000)).catch(() => {})
  const open = () => store.pool.query('update ferry.platform_limits set blocked_until = null')
  await refuse('first')
  await wait()
  await wait()
  expect(said.map(({ requestId }) => requestId)).toEqual(['first'])
  await open()
  await refuse('second')
  await wait()
  expect(said).toHaveLength(1)
  await open()
  const permit = await throttle.take(CALL, new AbortController().signal)
  await throttle.finish(permit, { ...END, httpStatus: 200, requestId: 'answered' })
  await refuse('third')
  await wait()
  expect(said.map(({ requestId }) => requestId)).toEqual(['first', 'third'])
})
