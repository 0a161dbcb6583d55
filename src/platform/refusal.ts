import type { NetworkFault } from './fault.ts'
import { KINDS, kindOfCode, kindOfStatus, type RefusalKind, type Repeatability } from './refusal-kinds.ts'

export type { RefusalKind } from './refusal-kinds.ts'

/** Why a call did not succeed, as a value: what the platform answered, or what happened to the call if it did not. */
export type Refusal = Repeatability & {
  readonly kind: RefusalKind
  /** The platform's `error.code`, or one of Ferry's own: `NoAnswer`, `NotSent`, `Redirected`, ... */
  readonly code: string
  /** Null if no answer came. */
  readonly httpStatus: number | null
  readonly requestId: string | null
  /** What happened, in one sentence. Never contains the app_key. */
  readonly message: string
  /** What a person can do about it. */
  readonly whatToDo: string
  readonly retryAfterMs: number | null
}

type Origin = Pick<Refusal, 'httpStatus' | 'requestId' | 'retryAfterMs'>

/**
 * The platform answered with an error code. The code decides the kind; for a code that the contract does not have, the
 * HTTP status does. A 429 is always `too-frequent`, whatever its code: the sender, even a gateway, counted the call and did
 * nothing else.
 */
export function refusedByPlatform(
  origin: Origin & { httpStatus: number },
  code: string,
  message: string,
): Refusal {
  const known = origin.httpStatus !== 429 ? kindOfCode(code) : undefined
  const kind = known ?? kindOfStatus(origin.httpStatus)
  const detail = message === '' ? '' : `: ${message}`
  return refusal(kind, {
    ...origin,
    code,
    message: `The platform answered ${code} (HTTP ${origin.httpStatus})${detail}`,
  })
}

/**
 * An answer that is not JSON or has no envelope, such as a gateway's error page. Whether the platform saw the call is
 * unknown, except for three: a body that was too large (413), a limit that was reached (429), and a proxy that requires
 * credentials (407). They pass nothing on.
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

/** A 2xx answer that does not match the contract. `what` names fields and types, never a value. */
export function brokenContract(origin: Origin, what: string): Refusal {
  return refusal('contract-violation', {
    ...origin,
    code: 'ContractViolation',
    message: `The answer breaks the contract: ${what}`,
  })
}

/** An answer larger than Ferry takes into memory. A repeated call would get the same. */
export function answerTooLarge(origin: Origin, what: string): Refusal {
  const message = `The answer is too large: ${what}`
  return refusal('answer-too-large', { ...origin, code: 'AnswerTooLarge', message })
}

/** The answer redirects the call. Only "see other" (303) may mean that the call was done. */
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

/** The call was sent, and no complete answer came. `httpStatus` is that of an answer that began. */
export function lost(origin: Origin, { kind, words }: NetworkFault): Refusal {
  if (origin.httpStatus !== 429 && kind === 'too-large') return answerTooLarge(origin, words)
  const message = `The call got no whole answer: ${words}`
  const known = origin.httpStatus === 429 ? 'too-frequent' : 'no-answer'
  return refusal(known, { ...origin, code: 'NoAnswer', message })
}

/** Nothing of the call reached the platform. */
export function notSent({ kind, words }: NetworkFault): Refusal {
  const origin = { httpStatus: null, requestId: null, retryAfterMs: null }
  const message = `The platform could not be reached: ${words}`
  if (kind === 'proxy-auth') {
    return refusal(kind, { ...origin, code: 'ProxyAuthenticationRequired', message })
  }
  if (kind === 'certificate') return refusal(kind, { ...origin, code: 'CertificateNotTrusted', message })
  return refusal('not-sent', { ...origin, code: 'NotSent', message })
}

function refusal(
  kind: RefusalKind,
  details: Omit<Refusal, 'kind' | keyof (typeof KINDS)[RefusalKind]>,
): Refusal {
  return { kind, ...details, ...KINDS[kind], message: details.message.replace(/(?<![.!?])$/, '.') }
}
