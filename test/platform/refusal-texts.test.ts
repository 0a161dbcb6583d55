import { expect, test } from 'vitest'
import {
  answerTooLarge,
  brokenContract,
  lost,
  notSent,
  type Refusal,
  redirected,
  refusedByPlatform,
  refusedWithoutEnvelope,
} from '#src/platform/refusal.ts'

/* All that a refusal says, for every way in which a call may not succeed. */

const of = (httpStatus: number) => ({ httpStatus, requestId: 'r-1', retryAfterMs: 7 })
const byCode = (code: string, httpStatus: number) => refusedByPlatform(of(httpStatus), code, 'No')
const fault = (kind: 'network' | 'proxy-auth' | 'certificate' | 'too-large') => ({ kind, words: 'a fault' })

const REQUEST = 'Check the ids and values in the request; the message names what is wrong.'
const ROUTE = 'Check the base address: the platform has no such operation there.'
const FACTOR = 'Use an app_key that does not need a second factor for this operation.'
const LIMIT = 'Wait: the limit is in use, perhaps by another program with this account.'
const PROXY = 'Put the right credentials into the address of the proxy: http://user:password@host:port.'
const NETWORK =
  'Try again later. If the error stays, check the network and what is in between, and raise FERRY_REQUEST_TIMEOUT if the time ran out.'
const LESS =
  'Ask for less in one call: name single folders in FERRY_FOLDERS; for MCP servers, lower FERRY_PAGE_LIMIT.'
const ADDRESS =
  'Set the base address to the final one. Ferry does not follow redirects, because the key is in the address.'
const REACH = 'Check the base address, the network and the proxy.'

test.each<[string, number, string]>([
  ['InvalidParameter', 400, `invalid-request, final: ${REQUEST}`],
  ['BadRequest', 400, `invalid-request, final: ${REQUEST}`],
  ['ResourceNotFound', 400, `invalid-request, final: ${REQUEST}`],
  ['ReferenceExist', 400, `invalid-request, final: ${REQUEST}`],
  [
    'InvalidContentType',
    400,
    'content-type, final: Check proxies and gateways between Ferry and the platform: one of them changed the Content-Type header.',
  ],
  ['NoLicense', 400, 'no-license, final: Get the license this feature needs on the platform.'],
  [
    'Unauthorized',
    401,
    'unauthorized, final: Check the app_key of this account; create a new one if it has expired.',
  ],
  ['BalanceNotEnough', 402, "balance, final: Top up the account's balance on the platform."],
  [
    'AccessDenied',
    403,
    'access-denied, final: Give the role of this app_key the permission the operation needs, or use a key that has it.',
  ],
  ['RouteNotFound', 404, `no-route, final: ${ROUTE}`],
  ['MethodNotAllowed', 405, `no-route, final: ${ROUTE}`],
  [
    'UndonedOrderExist',
    409,
    "order, later: Finish the account's open order on the platform, or wait until it is done.",
  ],
  ['EntityTooLarge', 413, 'too-large, final: Send less in one call.'],
  ['RequestLocked', 423, 'locked, later: Wait: the platform has locked the account after repeated failures.'],
  ['RequestVerifyRequired', 428, `verify, final: ${FACTOR}`],
  ['DangerousOperation', 428, `verify, final: ${FACTOR}`],
  ['RequestTooFrequently', 429, `too-frequent, later: ${LIMIT}`],
  [
    'InternalError',
    500,
    'server-error, uncertain, later: Try again later. If the error stays, report the request_id to the platform.',
  ],
  ['ServiceUnavailable', 503, 'unavailable, later: Try again later: a part of the platform is down.'],
])('all of the refusal %s (HTTP %i)', (code, httpStatus, rest) => {
  const refusal = byCode(code, httpStatus)
  expect(refusal).toMatchObject({ ...of(httpStatus), code, isPlatforms: true })
  expect(refusal.message).toBe(`The platform answered ${code} (HTTP ${httpStatus}): No.`)
  expect(worthOf(refusal)).toBe(rest)
})

test.each<[string, Refusal, string, string]>([
  [
    'NoEnvelope',
    refusedWithoutEnvelope(of(429), 'HTML'),
    'The answer (HTTP 429) is HTML.',
    `too-frequent, later: ${LIMIT}`,
  ],
  [
    'NoEnvelope',
    refusedWithoutEnvelope(of(413), 'HTML'),
    'The answer (HTTP 413) is HTML.',
    'too-large, uncertain, final: Send less in one call.',
  ],
  [
    'ProxyAuthenticationRequired',
    refusedWithoutEnvelope(of(407), 'HTML'),
    'The answer (HTTP 407) is HTML.',
    `proxy-auth, uncertain, final: ${PROXY}`,
  ],
  [
    'NoEnvelope',
    refusedWithoutEnvelope(of(502), 'HTML'),
    'The answer (HTTP 502) is HTML.',
    'no-envelope, uncertain, later: Check the base address and any proxy or gateway in between: the answer is not from the API.',
  ],
  [
    'ContractViolation',
    brokenContract(of(200), 'data is missing'),
    'The answer breaks the contract: data is missing.',
    'contract-violation, uncertain, later: Report the request_id to the platform: its answer breaks its own contract.',
  ],
  [
    'AnswerTooLarge',
    answerTooLarge(of(200), 'it has too much'),
    'The answer is too large: it has too much.',
    `answer-too-large, uncertain, final: ${LESS}`,
  ],
  [
    'Redirected',
    redirected(of(302), 'at a.example', 'b.example'),
    'The call was redirected (HTTP 302) to b.example, at a.example.',
    `redirected, uncertain, final: ${ADDRESS}`,
  ],
  [
    'Redirected',
    redirected(of(302), 'at a.example', null),
    'The call was redirected (HTTP 302) but the answer does not name an address, at a.example.',
    `redirected, uncertain, final: ${ADDRESS}`,
  ],
  [
    'NoAnswer',
    lost(of(200), fault('network')),
    'The call got no complete answer: a fault.',
    `no-answer, uncertain, later: ${NETWORK}`,
  ],
  [
    'NoAnswer',
    lost(of(429), fault('too-large')),
    'The call got no complete answer: a fault.',
    `too-frequent, later: ${LIMIT}`,
  ],
  [
    'AnswerTooLarge',
    lost(of(200), fault('too-large')),
    'The answer is too large: a fault.',
    `answer-too-large, uncertain, final: ${LESS}`,
  ],
])('all of a refusal that is not the platform’s: %s', (code, refusal, message, rest) => {
  expect(refusal).toMatchObject({ ...of(refusal.httpStatus ?? 0), code, isPlatforms: false })
  expect(refusal.message).toBe(message)
  expect(worthOf(refusal)).toBe(rest)
})

test.each<[string, Refusal, string]>([
  ['NotSent', notSent(fault('network')), `not-sent, later: ${REACH}`],
  ['ProxyAuthenticationRequired', notSent(fault('proxy-auth')), `proxy-auth, final: ${PROXY}`],
  [
    'ProxyAuthenticationRequired',
    lost(of(200), fault('proxy-auth')),
    `proxy-auth, uncertain, final: ${PROXY}`,
  ],
  [
    'CertificateNotTrusted',
    notSent(fault('certificate')),
    'certificate, final: If your own certificate authority issued it, set NODE_EXTRA_CA_CERTS to a file with the certificate ' +
      'of that authority (PEM) and start Ferry again. Otherwise check the base address and any proxies in between.',
  ],
])('all of a call that was not sent: %s', (code, refusal, rest) => {
  const nothing = { httpStatus: null, requestId: null, retryAfterMs: null }
  expect(refusal).toMatchObject({ ...nothing, code, isPlatforms: false })
  expect(refusal.message).toBe('The platform could not be reached: a fault.')
  expect(worthOf(refusal)).toBe(rest)
})

/** Its kind, whether it is certain, whether the same call may succeed later, and what to do. */
function worthOf({ kind, certain, retryable, whatToDo }: Refusal): string {
  return `${kind}${certain ? '' : ', uncertain'}, ${retryable ? 'later' : 'final'}: ${whatToDo}`
}
