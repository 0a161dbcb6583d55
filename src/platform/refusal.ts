import type { Fault } from './fault.ts'

/*
 * Why a call did not succeed, as a value: what the platform said (section 7 of the contract), or what became of the
 * call if it said nothing.
 */

export type Refusal = {
  readonly kind: RefusalKind
  /** The platform's `error.code`, or one of Ferry's: `NoAnswer`, `NotSent`, `Redirected`, ... */
  readonly code: string
  /** Null if no answer came. */
  readonly httpStatus: number | null
  readonly requestId: string | null
  /** What happened, one sentence. Never holds the app_key. */
  readonly message: string
  /** What a person can do about it, one sentence. */
  readonly whatToDo: string
  /** The same call may succeed a little later. */
  readonly retryable: boolean
  /** The platform certainly did nothing of what was asked. Otherwise it may have done all of it. */
  readonly certain: boolean
  readonly retryAfterMs: number | null
}

type Nature = Pick<Refusal, 'whatToDo' | 'retryable' | 'certain'>
const onceMended = { retryable: false, certain: true }
const later = { retryable: true, certain: true }
const unknown = { retryable: true, certain: false }

const NATURES = {
  unauthorized: {
    ...onceMended,
    whatToDo: 'Check the app_key of this account; make a new one if it has expired.',
  },
  'access-denied': {
    ...onceMended,
    whatToDo: 'Give the role of this app_key the permission the operation needs, or use a key that has it.',
  },
  balance: { ...onceMended, whatToDo: "Top up the account's balance on the platform." },
  'no-route': {
    ...onceMended,
    whatToDo: 'Check the base address: the platform has no such operation there.',
  },
  'invalid-request': {
    ...onceMended,
    whatToDo: 'Check the ids and values asked for; the message names what is wrong.',
  },
  'content-type': {
    ...onceMended,
    whatToDo: 'Check what stands between Ferry and the platform: something changed the Content-Type header.',
  },
  'no-license': { ...onceMended, whatToDo: 'Get the license this feature needs on the platform.' },
  order: { ...later, whatToDo: "Finish the account's open order on the platform, or wait until it is done." },
  'too-large': { ...onceMended, whatToDo: 'Send less in one call.' },
  locked: {
    ...later,
    whatToDo: 'Wait a while: the platform has locked the account after repeated failures.',
  },
  verify: { ...onceMended, whatToDo: 'Use an app_key that needs no second factor for this operation.' },
  'too-frequent': {
    ...later,
    whatToDo: 'Wait: the limit is in use, perhaps by another program with this account.',
  },
  'server-error': { ...unknown, whatToDo: 'Try again later; if it stays, give the platform the request_id.' },
  unavailable: { ...later, whatToDo: 'Try again later: a part of the platform is down.' },
  'no-envelope': {
    ...unknown,
    whatToDo: 'Check the base address, and any proxy or gateway on the way: the answer is not from the API.',
  },
  'no-answer': {
    ...unknown,
    whatToDo: 'Try again later; if it stays, check the network and raise the request timeout.',
  },
  'not-sent': { ...later, whatToDo: 'Check the base address, the network and the proxy.' },
  'proxy-auth': {
    ...onceMended,
    whatToDo:
      'Write the credentials into the address of the proxy, http://user:password@host:port, or correct them.',
  },
  certificate: {
    ...onceMended,
    whatToDo:
      'If it comes from a certificate authority of your own, name a file with its certificate (PEM) in ' +
      'NODE_EXTRA_CA_CERTS and start Ferry again; else check the base address and what stands in between.',
  },
  redirected: {
    ...onceMended,
    whatToDo:
      'Check the base address: write the one that answers itself. Ferry follows no redirect, since the key is in the address.',
  },
  'answer-too-large': {
    retryable: false,
    certain: false,
    whatToDo:
      'Ask for less at once: single folders in FERRY_FOLDERS; for MCP servers, a smaller FERRY_PAGE_LIMIT.',
  },
  'contract-violation': {
    ...unknown,
    whatToDo: 'Tell the platform, with the request_id: its answer breaks its own contract.',
  },
} as const satisfies Record<string, Nature>

export type RefusalKind = keyof typeof NATURES

const BY_CODE: Readonly<Record<string, RefusalKind>> = {
  InvalidParameter: 'invalid-request',
  BadRequest: 'invalid-request',
  ResourceNotFound: 'invalid-request',
  ReferenceExist: 'invalid-request',
  InvalidContentType: 'content-type',
  NoLicense: 'no-license',
  Unauthorized: 'unauthorized',
  BalanceNotEnough: 'balance',
  AccessDenied: 'access-denied',
  RouteNotFound: 'no-route',
  MethodNotAllowed: 'no-route',
  UndonedOrderExist: 'order',
  EntityTooLarge: 'too-large',
  RequestLocked: 'locked',
  RequestVerifyRequired: 'verify',
  DangerousOperation: 'verify',
  RequestTooFrequently: 'too-frequent',
  InternalError: 'server-error',
  ServiceUnavailable: 'unavailable',
}

const BY_STATUS: Readonly<Record<number, RefusalKind>> = {
  401: 'unauthorized',
  402: 'balance',
  403: 'access-denied',
  404: 'no-route',
  405: 'no-route',
  409: 'order',
  413: 'too-large',
  423: 'locked',
  428: 'verify',
  429: 'too-frequent',
  503: 'unavailable',
}

type Origin = Pick<Refusal, 'httpStatus' | 'requestId' | 'retryAfterMs'>

/**
 * The platform said no. The code decides; one the contract does not know falls back to the HTTP status. But a 429 is
 * one whatever stands in it: whoever gives it, a gateway too, counts the call and does nothing else.
 */
export function refusedByPlatform(
  origin: Origin & { httpStatus: number },
  code: string,
  message: string,
): Refusal {
  const known = Object.hasOwn(BY_CODE, code) && origin.httpStatus !== 429 ? BY_CODE[code] : undefined
  const kind = known ?? kindOfStatus(origin.httpStatus)
  const said = message === '' ? '' : `: ${message}`
  return refusal(kind, {
    ...origin,
    code,
    message: `The platform answered ${code} (HTTP ${origin.httpStatus})${said}`,
  })
}

/**
 * An answer that is no JSON or no envelope: a gateway's page. Whether the platform ever saw the call is unknown,
 * except for a body too large to pass, a limit that was reached, and a proxy that wants credentials: it passes nothing on.
 */
export function refusedWithoutEnvelope(origin: Origin & { httpStatus: number }, what: string): Refusal {
  const { httpStatus } = origin
  const message = `The answer (HTTP ${httpStatus}) is ${what}`
  if (httpStatus === 407) {
    return refusal('proxy-auth', { ...origin, code: 'ProxyAuthenticationRequired', message })
  }
  const kind = httpStatus === 413 ? 'too-large' : httpStatus === 429 ? 'too-frequent' : 'no-envelope'
  return refusal(kind, { ...origin, code: 'NoEnvelope', message })
}

/** A 2xx that is not what the contract says. `what` names fields and types, never a value. */
export function brokenContract(origin: Origin, what: string): Refusal {
  return refusal('contract-violation', {
    ...origin,
    code: 'ContractViolation',
    message: `The answer breaks the contract: ${what}`,
  })
}

/** An answer beyond what is taken into memory: asked again, it would be as large. */
export function answerTooLarge(origin: Origin, what: string): Refusal {
  const message = `The answer is too large: ${what}`
  return refusal('answer-too-large', { ...origin, code: 'AnswerTooLarge', message })
}

/** The call was sent elsewhere. Only "see other" (303) may mean that it was done. */
export function redirected(
  origin: Origin & { httpStatus: number },
  where: string,
  to: string | null,
): Refusal {
  const { httpStatus } = origin
  const target = to === null ? 'but the answer names no address' : `to ${to}`
  const message = `The call was redirected (HTTP ${httpStatus}) ${target}, ${where}`
  return { ...refusal('redirected', { ...origin, code: 'Redirected', message }), certain: httpStatus !== 303 }
}

/** The call was sent, and no whole answer came. `httpStatus` is that of an answer that began. */
export function lost(origin: Origin, { kind, words }: Fault): Refusal {
  if (origin.httpStatus !== 429 && kind === 'too-large') return answerTooLarge(origin, words)
  const message = `The call got no whole answer: ${words}`
  const known = origin.httpStatus === 429 ? 'too-frequent' : 'no-answer'
  return refusal(known, { ...origin, code: 'NoAnswer', message })
}

/** Nothing of the call reached the platform. */
export function notSent({ kind, words }: Fault): Refusal {
  const origin = { httpStatus: null, requestId: null, retryAfterMs: null }
  const message = `The platform could not be reached: ${words}`
  if (kind === 'proxy-auth') {
    return refusal(kind, { ...origin, code: 'ProxyAuthenticationRequired', message })
  }
  if (kind === 'certificate') return refusal(kind, { ...origin, code: 'CertificateNotTrusted', message })
  return refusal('not-sent', { ...origin, code: 'NotSent', message })
}

function refusal(kind: RefusalKind, told: Omit<Refusal, 'kind' | keyof Nature>): Refusal {
  return { kind, ...told, ...NATURES[kind], message: told.message.replace(/(?<![.!?])$/, '.') }
}

function kindOfStatus(httpStatus: number): RefusalKind {
  const kind = BY_STATUS[httpStatus]
  if (kind !== undefined) return kind
  if (httpStatus >= 500) return 'server-error'
  return httpStatus >= 400 ? 'invalid-request' : 'contract-violation'
}
