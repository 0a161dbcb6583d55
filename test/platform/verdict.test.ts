import { expect, test } from 'vitest'
import { answerTooLarge, type Refusal, refusedByPlatform } from '#src/platform/refusal.ts'
import { callEndOf } from '#src/platform/verdict.ts'

const origin = (httpStatus: number) => ({ httpStatus, requestId: 'r', retryAfterMs: null })

test.each<[string, Refusal, boolean]>([
  ['429 with a code of its own', refusedByPlatform(origin(429), 'Novel', ''), true],
  ['429 with more than Ferry reads', answerTooLarge(origin(429), 'it has too much'), true],
  ['another status with the code', refusedByPlatform(origin(400), 'RequestTooFrequently', ''), true],
  ['any other refusal', refusedByPlatform(origin(503), 'ServiceUnavailable', ''), false],
])('the call log learns whether %s is a refusal over the limit', (_, refusal, isOverLimit) => {
  const exchange = {
    kind: 'answered',
    permit: {
      callId: 1n,
      call: { account: 'a', operation: 'list-mcp-servers', runId: null },
      askedAt: { monotonicMs: 0, wallMs: 0 },
    },
    httpStatus: 200,
    headers: {},
    body: Buffer.alloc(0),
    answeredAtMs: 0,
  } as const
  expect(callEndOf(exchange, { ok: false, refusal })).toMatchObject({ isOverLimit })
})
