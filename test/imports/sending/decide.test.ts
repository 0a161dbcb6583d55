import { describe, expect, test } from 'vitest'
import { decide } from '#src/imports/sending/decide.ts'
import type { PlatformResponse } from '#src/imports/sending/decision.ts'
import {
  brokenContract,
  redirected,
  refusedByPlatform,
  refusedWithoutEnvelope,
} from '#src/platform/refusal.ts'
import {
  ACCEPTED,
  AGAIN,
  BATCH,
  noAnswer,
  origin,
  refused,
  STATE,
  said,
  TOO_LARGE,
  UNSENT,
} from '../outcomes.ts'

describe('a batch whose call', () => {
  test.for([
    ['UndonedOrderExist', 409],
    ['RequestLocked', 423],
    ['ServiceUnavailable', 503],
  ] as const)('is refused for certain with %s is sent again after a while', ([code, status]) => {
    expect(decide(BATCH, refused(said(code, status)), STATE)).toMatchObject({
      disposition: AGAIN,
      failures: 1,
      retryAfterMs: 1_000,
      pause: null,
    })
  })

  test('is refused with 429 is sent again, and it costs no failure', () => {
    const decision = decide(BATCH, refused(said('RequestTooFrequently', 429)), { ...STATE, failures: 9 })
    expect(decision).toMatchObject({ disposition: AGAIN, failures: 9, retryAfterMs: null, pause: null })
  })

  test('was not sent is sent again after a while', () => {
    expect(decide(BATCH, refused(UNSENT), STATE)).toMatchObject({ disposition: AGAIN, failures: 1 })
  })

  test.for([
    ['InternalError with 500', said('InternalError', 500)],
    ['InternalError with 503', said('InternalError', 503)],
    ['a code of a refusal with 500', said('InvalidParameter', 500)],
    ['an unknown code with 502', said('Gateway', 502)],
    ['an unknown code with 504', said('Gateway', 504)],
    ['an unknown code with 503', said('upstream_timeout', 503)],
    ['an unknown code with 409', said('upstream_timeout', 409)],
    ['an unknown code with 423', said('upstream_timeout', 423)],
    ['an unknown code with 400', said('upstream_timeout', 400)],
    [
      '503 without a request_id',
      refusedByPlatform({ ...origin(503), requestId: null }, 'ServiceUnavailable', ''),
    ],
    ['503 and no envelope', refusedWithoutEnvelope(origin(503), 'text/html')],
    ['404 and no envelope', refusedWithoutEnvelope(origin(404), 'text/html')],
    ['no answer', noAnswer(null, 'reset')],
    ['half an answer', noAnswer(200, 'cut short')],
    ['a 2xx without data', brokenContract(origin(200), 'data is missing')],
    ['a 2xx with an error', said('InvalidParameter', 200)],
    ['a 2xx with an error that would pause', said('Unauthorized', 200)],
  ] as const)('ends with %s is uncertain: sent again, or held', ([, refusal]) => {
    expect(decide(BATCH, refused(refusal), STATE)).toMatchObject({
      disposition: { ...AGAIN, resent: true },
      failures: 1,
      pause: null,
    })
    expect(decide(BATCH, refused(refusal), { ...STATE, resend: false })).toMatchObject({
      disposition: { to: 'uncertain' },
      failures: 1,
    })
  })

  test.for([
    ["a gateway's page", refusedWithoutEnvelope(origin(429), 'text/html')],
    ['another code', said('InternalError', 429)],
    ['half an answer', noAnswer(429, 'cut short')],
  ] as const)('is refused with 429 and %s is not uncertain, and it costs no failure', ([, refusal]) => {
    for (const resend of [true, false]) {
      const decision = decide(BATCH, refused(refusal), { ...STATE, resend, failures: 9 })
      expect(decision).toMatchObject({ disposition: AGAIN, failures: 9, retryAfterMs: null, pause: null })
    }
  })

  test.for([
    ['Unauthorized', 401],
    ['BalanceNotEnough', 402],
    ['AccessDenied', 403],
    ['RouteNotFound', 404],
    ['MethodNotAllowed', 405],
    ['RequestVerifyRequired', 428],
    ['DangerousOperation', 428],
    ['NoLicense', 400],
    ['InvalidContentType', 400],
  ] as const)('is refused with %s pauses the import', ([code, status]) => {
    expect(decide(BATCH, refused(said(code, status)), STATE)).toMatchObject({
      disposition: AGAIN,
      pause: 'platform',
    })
  })

  test.for([
    ['a code that the contract does not have', said('denied', 403)],
    [
      'no request_id of the platform',
      refusedByPlatform({ ...origin(401), requestId: null }, 'Unauthorized', ''),
    ],
    ['a redirect', redirected(origin(302), '(FERRY_BASE_URL)', 'sso.example.com')],
    ['a proxy that wants credentials', refusedWithoutEnvelope(origin(407), 'text/html')],
  ] as const)('is refused, with %s, pauses the import, and the batch is uncertain', ([, refusal]) => {
    expect(decide(BATCH, refused(refusal), STATE)).toMatchObject({
      disposition: { ...AGAIN, resent: true },
      pause: 'platform',
    })
    expect(decide(BATCH, refused(refusal), { ...STATE, resend: false })).toMatchObject({
      disposition: { to: 'uncertain' },
      pause: 'platform',
    })
  })

  test.for([
    ['InvalidParameter', 400],
    ['BadRequest', 400],
    ['ResourceNotFound', 400],
    ['ReferenceExist', 400],
  ] as const)('is refused with %s and HTTP %s is sent without whom it names, or halved', ([code, status]) => {
    const refusal = said(code, status)
    expect(decide(BATCH, refused(refusal, 7n), STATE).disposition).toEqual({ ...AGAIN, setAside: [7n] })
    expect(decide(BATCH, refused(refusal), STATE).disposition).toEqual({ to: 'split', resent: false })
    expect(decide({ ...BATCH, setAside: [7n], proven: 1 }, refused(refusal), STATE).disposition).toEqual({
      to: 'split',
      resent: false,
    })
    expect(decide({ ...BATCH, setAside: [7n], proven: 1 }, refused(refusal, 9n), STATE).disposition).toEqual({
      ...AGAIN,
      setAside: [7n, 9n],
    })
  })

  test('is accepted is sent, and all that went wrong before is forgotten', () => {
    const decision = decide(BATCH, ACCEPTED, { ...STATE, failures: 9, unaccepted: 11 })
    expect(decision).toMatchObject({
      disposition: { to: 'sent' },
      accepted: 6,
      failures: 0,
      unaccepted: 0,
      retryAfterMs: null,
    })
  })
})

describe('failures in a row', () => {
  const failing = refused(said('ServiceUnavailable', 503))

  test('make it wait longer each time, a minute at most, and pause it at the tenth', () => {
    const waits = Array.from(
      { length: 9 },
      (_, failures) => decide(BATCH, failing, { ...STATE, failures }).retryAfterMs,
    )
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map(seconds => seconds * 1_000))
    expect(decide(BATCH, failing, { ...STATE, failures: 9 })).toMatchObject({
      disposition: AGAIN,
      pause: 'failures',
      failures: 0,
      retryAfterMs: null,
    })
  })

  test('make it wait as long as the platform asks, ten minutes at most', () => {
    const asking = (ms: number) => refused(refusedByPlatform(origin(503, ms), 'ServiceUnavailable', 'No.'))
    expect(decide(BATCH, asking(30_000), STATE).retryAfterMs).toBe(30_000)
    expect(decide(BATCH, asking(86_400_000), STATE).retryAfterMs).toBe(600_000)
    expect(decide(BATCH, asking(500), STATE).retryAfterMs).toBe(1_000)
  })
})

describe('a body too large', () => {
  test('is halved, and its size remembered', () => {
    expect(decide(BATCH, TOO_LARGE, STATE)).toMatchObject({ disposition: { to: 'split' }, maxRows: 250 })
    expect(decide({ ...BATCH, rows: 3 }, TOO_LARGE, STATE)).toMatchObject({
      maxRows: 1,
    })
    expect(decide(BATCH, TOO_LARGE, { ...STATE, maxRows: 100 })).toMatchObject({ maxRows: 100 })
  })

  test('of one row is a reject, and says nothing about how many others fit', () => {
    const decision = decide({ ...BATCH, rows: 1 }, TOO_LARGE, {
      ...STATE,
      maxRows: 1,
    })
    expect(decision).toMatchObject({ disposition: { to: 'rejected' }, maxRows: null })
  })

  test('of one row is a suspect as long as no call was accepted, and a reject if it is too large again', () => {
    const state = { ...STATE, maxRows: 1, accepted: 0 }
    const decision = (refusedAlone: string | null) =>
      decide({ ...BATCH, rows: 1, refusedAlone }, TOO_LARGE, state)
    expect(decision(null)).toMatchObject({ disposition: { to: 'suspect' }, maxRows: null, unaccepted: 1 })
    expect(decision('BadRequest').disposition).toEqual({ to: 'suspect' })
    expect(decision('EntityTooLarge')).toMatchObject({ disposition: { to: 'rejected' }, maxRows: null })
  })

  test("of a gateway's page is one too, but the batch is uncertain: its halves are sent again, or it is held", () => {
    const page = refused(refusedWithoutEnvelope(origin(413), 'text/html'))
    expect(decide(BATCH, page, STATE)).toMatchObject({
      disposition: { to: 'split', resent: true },
      maxRows: 250,
    })
    expect(decide(BATCH, page, { ...STATE, resend: false })).toMatchObject({
      disposition: { to: 'uncertain' },
      maxRows: 250,
    })
    const row = { ...BATCH, rows: 1 }
    expect(decide(row, page, STATE)).toMatchObject({ disposition: { ...AGAIN, resent: true }, failures: 1 })
  })
})

test('a refusal that names the page pauses the import at once, whatever was accepted or refused before', () => {
  const response: PlatformResponse = {
    ...refused(said('ResourceNotFound', 400)),
    isWrongPage: true,
  } as PlatformResponse
  for (const batch of [BATCH, { ...BATCH, rows: 1, refusedAlone: 'ResourceNotFound' }]) {
    for (const state of [{ ...STATE, accepted: 0, failures: 3 }, { ...STATE, unaccepted: 5 }, STATE]) {
      expect(decide(batch, response, state)).toMatchObject({
        disposition: AGAIN,
        pause: 'page',
        failures: 0,
        unaccepted: 0,
      })
    }
  }
})
