import type { z } from 'zod'
import type { CallEnd, Operation } from '#src/model/call.ts'
import { isRedirect, readAnswer, readRedirect, requestIdOf, type Scrub, type Verdict } from './answer.ts'
import type { FindKnown, ListingEnd, ListingStep } from './listing.ts'
import { stringifyLossless } from './lossless-json.ts'
import type { Answered, Exchange, Post, Transport } from './post.ts'
import { readListing, type ScannedListing } from './read-listing.ts'
import type { RowKind } from './read-rows.ts'
import { lost, notSent } from './refusal.ts'

/** A question to the platform, and how its answer is read: `receive` yields `Step`s while it comes. */
export type PlatformRequest<Step, Body, T> = {
  readonly operation: Operation
  readonly body: Buffer
  readonly receive: Post<Step, Body>['receive']
  readonly read: (answer: Answered<Body>, scrub: Scrub) => Verdict<T>
}

export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(stringifyLossless(value))
}

/** Asks for rows of one kind, and checks the rest of `data`. Rows that are known are yielded as known. */
export function listRequest<Row, Wire, Data>(
  operation: Operation,
  body: object,
  kind: RowKind<Row, Wire>,
  data: z.ZodType<Data>,
  find: FindKnown,
): PlatformRequest<ListingStep<Row>, ScannedListing, { readonly data: Data; readonly listing: ListingEnd }> {
  return {
    operation,
    body: jsonBytes(body),
    receive: (head, chunks) => readListing(kind, find, head, chunks),
    read(answer, scrub) {
      const { around, damage, listing } = answer.body
      const verdict = readAnswer({ ...answer, body: around }, data, scrub, damage)
      return verdict.ok ? { ...verdict, data: { data: verdict.data, listing } } : verdict
    },
  }
}

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
