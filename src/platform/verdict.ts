import type { CallEnd } from '#src/model/call-end.ts'
import { isRedirect, readRedirect, requestIdOf, type Scrub, type Verdict } from './answer.ts'
import type { Answered, Exchange, Transport } from './post.ts'
import { lost, notSent, type RefusalKind } from './refusal.ts'

/** Returns the data of an exchange as `read` finds it, or why there is none. */
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

/** Returns how a call ended, for the call log. */
export function callEndOf(exchange: Exchange, verdict: Verdict<unknown>): CallEnd {
  const answeredAtMs = exchange.kind === 'answered' ? exchange.answeredAtMs : performance.now()
  if (verdict.ok) {
    const httpStatus = exchange.kind === 'answered' ? exchange.httpStatus : null
    const { requestId } = verdict
    return { answeredAtMs, httpStatus, errorCode: null, requestId, isOverLimit: false, retryAfterMs: null }
  }
  const { kind, httpStatus, code, requestId, retryAfterMs } = verdict.refusal
  const answered = httpStatus !== null && !NOT_OF_PLATFORM.has(kind)
  const isOverLimit = kind === 'too-frequent' || httpStatus === 429
  return {
    answeredAtMs: answered ? answeredAtMs : null,
    httpStatus,
    errorCode: code,
    requestId,
    isOverLimit,
    retryAfterMs,
  }
}

/** Answers that do not come from the platform. */
const NOT_OF_PLATFORM: ReadonlySet<RefusalKind> = new Set(['no-envelope', 'redirected', 'proxy-auth'])
