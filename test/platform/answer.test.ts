import { afterEach, expect, test, vi } from 'vitest'
import { momentNow } from '#src/model/moment.ts'
import { isRedirect, isSuccessStatus, readAnswer, retryAfterMs } from '#src/platform/answer.ts'
import { ImportData } from '#src/platform/contract.ts'
import { refusedByPlatform, refusedWithoutEnvelope } from '#src/platform/refusal.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('Retry-After is whole seconds, however many', () => {
  expect(retryAfterMs('0')).toBe(0)
  expect(retryAfterMs('12')).toBe(12_000)
  expect(retryAfterMs('86400')).toBe(86_400_000)
  expect(retryAfterMs(null)).toBeNull()
})

test('Retry-After is a date with the name of its month; one that is over asks for no wait', () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12) })
  expect(retryAfterMs('Thu, 01 Jan 2026 12:00:30 GMT')).toBe(30_000)
  expect(retryAfterMs('Thu, 01 Jan 2026 13:00:00 +0100')).toBe(0)
  expect(retryAfterMs('Sun Nov  6 08:49:37 1994')).toBe(0)
  expect(retryAfterMs('Thu, 01 Jan 2026 11:59:30 GMT')).toBe(0)
})

test('a Retry-After that is neither says nothing, whatever a lenient reader would make of it', () => {
  for (const odd of [
    '',
    '-5',
    '1.5',
    '1e3',
    '0x10',
    '2026-01-01T12:00:30Z',

    '12 34',
    'soon',
    'NaN',
    '١٢',
  ]) {
    expect([odd, retryAfterMs(odd)]).toEqual([odd, null])
  }
})

test('2xx is success, 3xx is a redirect, nothing else is either', () => {
  const statuses = [100, 199, 200, 204, 299, 300, 302, 399, 400, 503]
  expect(statuses.filter(isSuccessStatus)).toEqual([200, 204, 299])
  expect(statuses.filter(isRedirect)).toEqual([300, 302, 399])
})

test('what a refusal is worth: whether it is certain, and whether to try again', () => {
  const worthOf = (code: string, httpStatus: number) => {
    const { kind, certain, retryable } = refusedByPlatform(
      { httpStatus, requestId: 'r', retryAfterMs: null },
      code,
      '',
    )
    return { kind, certain, retryable }
  }
  expect(worthOf('InternalError', 500)).toEqual({ kind: 'server-error', certain: false, retryable: true })
  expect(worthOf('ServiceUnavailable', 503)).toEqual({ kind: 'unavailable', certain: true, retryable: true })
  expect(worthOf('UndonedOrderExist', 409)).toEqual({ kind: 'order', certain: true, retryable: true })
  expect(worthOf('EntityTooLarge', 413)).toEqual({ kind: 'too-large', certain: true, retryable: false })
  expect(worthOf('ResourceNotFound', 400)).toMatchObject({ kind: 'invalid-request', retryable: false })
  // A code nobody knows, even one that every object has, leaves it to the status.
  for (const code of ['Whatever', 'constructor', '__proto__', 'toString']) {
    expect(worthOf(code, 500).kind).toBe('server-error')
    expect(worthOf(code, 502).kind).toBe('server-error')
    expect(worthOf(code, 401).kind).toBe('unauthorized')
    expect(worthOf(code, 418).kind).toBe('invalid-request')
    expect(worthOf(code, 200).kind).toBe('contract-violation')
  }
})

test("a gateway's page may have done everything, unless it is a 429", () => {
  const certain = (httpStatus: number) =>
    refusedWithoutEnvelope({ httpStatus, requestId: null, retryAfterMs: null }, 'HTML').certain
  expect([429, 200, 400, 407, 413, 500, 502, 503, 504].map(certain)).toEqual([true, ...Array(8).fill(false)])
})

/** What is made of an answer to an import. */
function read(
  body: object,
  { requestId = 'of-the-header', httpStatus = 500 }: { requestId?: string; httpStatus?: number } = {},
) {
  const call = { account: 'a', operation: 'list-alert-rules', runId: null } as const
  return readAnswer(
    {
      kind: 'answered',
      permit: { callId: 1n, call, askedAt: momentNow() },
      httpStatus,
      headers: { 'content-type': 'application/json', 'service-request-id': requestId },
      body: Buffer.from(JSON.stringify(body)),
      answeredAtMs: 0,
    },
    ImportData,
    text => text,
  )
}

test('a refusal without a request_id in its body has that of the header', () => {
  const refused = (body: object) => {
    const verdict = read(body)
    return verdict.ok ? null : verdict.refusal
  }
  const error = { code: 'InternalError' }
  expect(refused({ error })).toMatchObject({ requestId: 'of-the-header', isPlatforms: false })
  expect(refused({ error, request_id: 'of-the-body' })).toMatchObject({
    requestId: 'of-the-body',
    isPlatforms: true,
  })
})

test('a request_id in which an address stands is unreadable, from wherever it comes', () => {
  const idOf = (...of: Parameters<typeof read>) => {
    const verdict = read(...of)
    return [verdict.ok, verdict.ok ? verdict.requestId : verdict.refusal.requestId]
  }
  const error = { code: 'InternalError' }
  for (const address of ['ada@example.com', 'r-ada%40example.com', 'r@7']) {
    expect(idOf({ error }, { requestId: address })).toEqual([false, 'Unreadable'])
    expect(idOf({ error, request_id: address })).toEqual([false, 'Unreadable'])
    expect(idOf({ data: {}, request_id: address }, { httpStatus: 200 })).toEqual([true, 'Unreadable'])
  }
  const far = `r-${'x'.repeat(2_000)}`
  expect(idOf({ error }, { requestId: far })).toEqual([false, far.slice(0, 1_000)])
  expect(idOf({ error }, { requestId: 'r-\0' })).toEqual([false, 'r-␀'])
})
