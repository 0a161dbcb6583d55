import type { NetworkFault } from './fault.ts'
import { isOfContract, KINDS, kindOf, type RefusalKind, type Repeatability } from './refusal-kinds.ts'

export type { RefusalKind } from './refusal-kinds.ts'

/** Why a call did not succeed, as a value: the platform's answer, or the failure of the call if it had none. */
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
  /**
   * The platform itself refused the call: a code of the contract, with the status that the contract gives it and a
   * `request_id` in the body. Anything else may come from a gateway, which may have passed the call on.
   */
  readonly isPlatforms: boolean
  readonly retryAfterMs: number | null
}

type Origin = Pick<Refusal, 'httpStatus' | 'requestId' | 'retryAfterMs'>

/**
 * An answer with an error code. `requestId` is that of the body. Only a refusal by the platform itself is certain; and any 429,
 * since its sender, even a gateway, counted the call and did nothing else.
 */
export function refusedByPlatform(
  origin: Origin & { httpStatus: number },
  code: string,
  message: string,
): Refusal {
  const { httpStatus, requestId } = origin
  const detail = message === '' ? '' : `: ${message}`
  const refused = refusal(kindOf(code, httpStatus), {
    ...origin,
    code,
    message: `The platform answered ${code} (HTTP ${httpStatus})${detail}`,
  })
  const isPlatforms = requestId !== null && isOfContract(code, httpStatus)
  return { ...refused, isPlatforms, certain: refused.certain && (isPlatforms || httpStatus === 429) }
}

/**
 * An answer that is not JSON or has no envelope, such as a gateway's error page. Whether the platform saw the call is
 * unknown, except with 429: a limit that was reached.
 */
export function refusedWithoutEnvelope(origin: Origin & { httpStatus: number }, what: string): Refusal {
  const { httpStatus } = origin
  const message = `The answer (HTTP ${httpStatus}) is ${what}`
  if (httpStatus === 429) return refusal('too-frequent', { ...origin, code: 'NoEnvelope', message })
  const kind = httpStatus === 413 ? 'too-large' : httpStatus === 407 ? 'proxy-auth' : 'no-envelope'
  const code = kind === 'proxy-auth' ? 'ProxyAuthenticationRequired' : 'NoEnvelope'
  return { ...refusal(kind, { ...origin, code, message }), certain: false }
}

/** A 2xx answer that does not match the contract. `what` names fields and types, never a value. */
export function brokenContract(origin: Origin, what: string): Refusal {
  return refusal('contract-violation', {
    ...origin,
    code: 'ContractViolation',
    message: `The answer breaks the contract: ${what}`,
  })
}

/** An answer larger than Ferry takes into memory. A repeated call would get the same answer. */
export function answerTooLarge(origin: Origin, what: string): Refusal {
  const message = `The answer is too large: ${what}`
  return refusal('answer-too-large', { ...origin, code: 'AnswerTooLarge', message })
}

/** The answer redirects the call. The server that answered may have passed the call on before. */
export function redirected(
  origin: Origin & { httpStatus: number },
  where: string,
  to: string | null,
): Refusal {
  const target = to === null ? 'but the answer does not name an address' : `to ${to}`
  const message = `The call was redirected (HTTP ${origin.httpStatus}) ${target}, ${where}`
  return refusal('redirected', { ...origin, code: 'Redirected', message })
}

/** The call was sent, and no complete answer came. `httpStatus` is that of an answer that began. */
export function lost(origin: Origin, { kind, words }: NetworkFault): Refusal {
  if (origin.httpStatus !== 429 && kind === 'too-large') return answerTooLarge(origin, words)
  if (kind === 'proxy-auth') return { ...notSent({ kind, words }), certain: false }
  const message = `The call got no complete answer: ${words}`
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
  details: Omit<Refusal, 'kind' | 'isPlatforms' | keyof (typeof KINDS)[RefusalKind]>,
): Refusal {
  return {
    kind,
    isPlatforms: false,
    ...details,
    ...KINDS[kind],
    message: details.message.replace(/(?<![.!?])$/, '.'),
  }
}
