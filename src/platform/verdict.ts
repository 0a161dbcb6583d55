import type { CallEnd } from '#src/model/call.ts'
import { isRedirect, readRedirect, requestIdOf, type Scrub, type Verdict } from './answer.ts'
import type { Answered, Exchange, Transport } from './post.ts'
import { lost, notSent } from './refusal.ts'

/** Returns the data of an exchange as `read` finds it, or the refusal. */
export function verdictOn<Body, T>(
  exchange: Exchange<Body>,
  read: (answer: Answered<Body>) => Verdict<T>,
  { where, origin }: Transport,
  scrub: Scrub,
): Verdict<T> {
  if (exchange.kind === 'unsent') return { ok: false, refusal: notSent(exchange.fault) }
  if (exchange.kind === 'lost') {
    const { httpStatus, fault } = exchange
    const about = { httpStatus, requestId: requestIdOf(exchange, scrub), retryAfterMs: null }
    return { ok: false, refusal: lost(about, fault) }
  }
  if (!isRedirect(exchange.httpStatus)) return read(exchange)
  return { ok: false, refusal: readRedirect(exchange, where, origin, scrub) }
}

/**
 * Returns how a call ended, for the call log. Only an answer of the platform itself proves that the platform has counted the
 * call: after the answer of a gateway, or a cut connection, it may still count it.
 */
export function callEndOf(exchange: Exchange, verdict: Verdict<unknown>): CallEnd {
  const answeredAtMs = exchange.kind === 'answered' ? exchange.answeredAtMs : null
  if (verdict.ok) {
    const httpStatus = exchange.kind === 'answered' ? exchange.httpStatus : null
    const { requestId } = verdict
    return { answeredAtMs, httpStatus, errorCode: null, requestId, isOverLimit: false, retryAfterMs: null }
  }
  const { kind, httpStatus, code, requestId, retryAfterMs, isPlatforms } = verdict.refusal
  const isOverLimit = kind === 'too-frequent' || httpStatus === 429
  return {
    answeredAtMs: isPlatforms ? answeredAtMs : null,
    httpStatus,
    errorCode: code,
    requestId,
    isOverLimit,
    retryAfterMs,
  }
}
