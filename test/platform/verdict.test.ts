import { expect, test } from 'vitest'
import type { NetworkFault } from '#src/platform/fault.ts'
import type { Transport } from '#src/platform/post.ts'
import { answerTooLarge, lost, type Refusal, refusedByPlatform } from '#src/platform/refusal.ts'
import { callEndOf, verdictOn } from '#src/platform/request.ts'

const origin = (httpStatus: number) => ({ httpStatus, requestId: 'r', retryAfterMs: null })

const PERMIT = {
  callId: 1n,
  call: { account: 'a', operation: 'list-mcp-servers', runId: null },
  askedAt: { monotonicMs: 0, wallMs: 0 },
} as const

test.each<[string, Refusal, boolean]>([
  ['429 with a code of its own', refusedByPlatform(origin(429), 'Novel', ''), true],
  ['429 with more than Ferry reads', answerTooLarge(origin(429), 'it has too much'), true],
  ['another status with the code', refusedByPlatform(origin(400), 'RequestTooFrequently', ''), true],
  ['any other refusal', refusedByPlatform(origin(503), 'ServiceUnavailable', ''), false],
])('the call log learns whether %s is a refusal over the limit', (_, refusal, isOverLimit) => {
  const exchange = {
    kind: 'answered',
    permit: PERMIT,
    httpStatus: 200,
    headers: {},
    body: Buffer.alloc(0),
    answeredAtMs: 0,
  } as const
  expect(callEndOf(exchange, { ok: false, refusal })).toMatchObject({ isOverLimit })
})

test('a 429 of which the answer was lost is a refusal for certain, also if Ferry stopped reading what was too large', () => {
  const kindOf = (httpStatus: number, kind: NetworkFault['kind']) => {
    const { certain, ...refusal } = lost(origin(httpStatus), { kind, words: 'lost' })
    return [refusal.kind, certain]
  }
  expect(kindOf(429, 'too-large')).toEqual(['too-frequent', true])
  expect(kindOf(429, 'network')).toEqual(['too-frequent', true])
  expect(kindOf(200, 'too-large')).toEqual(['answer-too-large', false])
  expect(kindOf(200, 'network')).toEqual(['no-answer', false])
})

test('an answer that was lost after its head is still told by its request id', () => {
  const requestIdOf = (headers: Readonly<Record<string, string>>) => {
    const fault = { kind: 'network', words: 'the connection was reset' } as const
    const exchange = { kind: 'lost', permit: PERMIT, httpStatus: 200, headers, fault } as const
    const transport = { where: 'at a', origin: 'https://a' } as Transport
    const verdict = verdictOn(
      exchange,
      () => neverRead(),
      transport,
      text => text,
    )
    return verdict.ok ? undefined : verdict.refusal.requestId
  }
  expect(requestIdOf({ 'service-request-id': 'of-the-head' })).toBe('of-the-head')
  expect(requestIdOf({})).toBeNull()
})

function neverRead(): never {
  throw new Error('what was lost cannot be read')
}
