import type { z } from 'zod'
import { holdsAddress } from '#src/model/addresses.ts'
import { cutText, firstOf } from '#src/model/cut-text.ts'
import { cleanString } from './clean-text.ts'
import { FailureEnvelope, SuccessEnvelope } from './contract.ts'
import { parseLossless } from './lossless-json.ts'
import type { Answered, AnswerHead } from './post.ts'
import {
  brokenContract,
  type Refusal,
  redirected,
  refusedByPlatform,
  refusedWithoutEnvelope,
} from './refusal.ts'

/** The data of an answer, or why the call did not succeed. */
export type Verdict<T> =
  | { readonly ok: true; readonly data: T; readonly requestId: string }
  | { readonly ok: false; readonly refusal: Refusal }

/** The result of a call. `requests` counts every request sent for it, failed attempts included. */
export type Answer<T> = Verdict<T> & { readonly requests: number }

/** Removes the app_key from text of the platform. */
export type Scrub = (text: string) => string

type Origin = { httpStatus: number; requestId: string | null; retryAfterMs: number | null }

/** Longer text of the platform is cut off; a message only by `withShortMessage`, so that it can be searched as a whole. */
const MAX_TEXT_LENGTH = 1_000

/** Replaces a code or a request_id that is not valid, or that contains an address. */
const UNREADABLE = 'Unreadable'

/**
 * Reads an answer and checks its envelope and `data`. Never throws for what the platform sent. `damage` says where the rows of
 * a listing are not JSON, if they were found to be damaged.
 */
export function readAnswer<T>(
  answer: Answered,
  data: z.ZodType<T>,
  scrub: Scrub,
  damage: string | null = null,
): Verdict<T> {
  const tidy = (text: string) => tidied(text, scrub)
  const origin: Origin = {
    httpStatus: answer.httpStatus,
    requestId: requestIdOf(answer, scrub),
    retryAfterMs: retryAfterMs(header(answer, 'retry-after')),
  }
  const contentType = header(answer, 'content-type')
  if (!isJson(contentType)) {
    return refused(refusedWithoutEnvelope(origin, `${tidy(contentType ?? '')}, not JSON`))
  }
  let body: unknown
  try {
    body = parseLossless(answer.body.toString('utf8'))
  } catch {
    return refused(
      refusedWithoutEnvelope(origin, damage === null ? 'not valid JSON' : `not valid JSON: ${damage}`),
    )
  }
  const verdict = readEnvelope(body, origin, scrub)
  if (!verdict.ok) return verdict
  const checked = data.safeParse(verdict.data)
  if (checked.success) return { ...verdict, data: checked.data }
  const [issue] = checked.error.issues
  const field = ['data', ...(issue?.path ?? [])].join('.')
  return refused(brokenContract({ ...origin, requestId: verdict.requestId }, `${field} ${issue?.message}`))
}

/** The same with a message that is short enough to be stored, logged and printed. */
export function withShortMessage<T>(answer: Answer<T>): Answer<T> {
  if (answer.ok) return answer
  const { refusal } = answer
  return { ...answer, refusal: { ...refusal, message: cutText(refusal.message, MAX_TEXT_LENGTH) } }
}

/** Section 2.1 of the contract. A code other than `OK` is a failure, whatever the status. */
function readEnvelope(body: unknown, origin: Origin, scrub: Scrub): Verdict<unknown> {
  const tidy = (text: string) => tidied(text, scrub)
  const isSuccess = isSuccessStatus(origin.httpStatus)
  const failure = FailureEnvelope.safeParse(body)
  if (failure.success && !(isSuccess && failure.data.error.code === 'OK')) {
    const { request_id, error } = failure.data
    const requestId = mapped(request_id ?? null, id => idIn(tidy(id)))
    const message = cleanString(scrub(error.message ?? ''))
    const refusal = refusedByPlatform({ ...origin, requestId }, codeIn(tidy(error.code)), message)
    return refused({ ...refusal, requestId: requestId ?? origin.requestId })
  }
  if (!isSuccess) return refused(refusedWithoutEnvelope(origin, 'JSON, but without an error code'))

  const success = SuccessEnvelope.safeParse(body)
  // Without it the answer may come from a gateway, whatever its headers say.
  if (!success.success) return refused(brokenContract(origin, 'request_id is missing'))
  const requestId = idIn(tidy(success.data.request_id))
  if (!isObject(body) || !('data' in body)) {
    return refused(brokenContract({ ...origin, requestId }, 'data is missing'))
  }
  return { ok: true, data: body.data, requestId }
}

/** Whether this status means success. */
export function isSuccessStatus(httpStatus: number): boolean {
  return httpStatus >= 200 && httpStatus < 300
}

/** Whether a Content-Type may be JSON. A missing one counts as JSON. */
export function isJson(contentType: string | null): boolean {
  return contentType === null || /^\s*(application|text)\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType)
}

/**
 * Returns the request_id of the headers. The contract names it `Service-Request-Id`. Other names have been seen; all of them
 * end with `request-id`.
 */
export function requestIdOf({ headers }: Pick<AnswerHead, 'headers'>, scrub: Scrub): string | null {
  const names = ['service-request-id', ...Object.keys(headers).filter(name => /(^|-)request-id$/.test(name))]
  const found = names.map(name => header({ headers }, name)).find(id => id !== null && id !== '') ?? null
  return mapped(found, id => idIn(tidied(id, scrub)))
}

/**
 * Returns the refusal of a redirect (3xx). Ferry does not follow it, because the key would be sent along. The message names
 * only the host: the rest of the address may hold the key.
 */
export function readRedirect(answer: AnswerHead, where: string, origin: string, scrub: Scrub): Refusal {
  const location = header(answer, 'location')
  // The key is removed first: a host is put in lower case, and the key would not be found in it.
  const target = location === null ? null : URL.parse(scrub(location), origin)
  const { httpStatus } = answer
  const about = { httpStatus, requestId: requestIdOf(answer, scrub), retryAfterMs: null }
  return redirected(about, where, target === null ? null : target.host || null)
}

export function isRedirect(httpStatus: number): boolean {
  return httpStatus >= 300 && httpStatus < 400
}

/** Returns a header of an answer, the first one if there are several. */
export function header({ headers }: Pick<AnswerHead, 'headers'>, name: string): string | null {
  const value = headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? null
}

/** Reads `Retry-After`: seconds, or a date with the name of its month. Returns null for anything else. */
export function retryAfterMs(retryAfter: string | null): number | null {
  if (retryAfter === null) return null
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000
  const ms = /[a-z]{3}/i.test(retryAfter) ? Date.parse(retryAfter) - Date.now() : Number.NaN
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : null
}

function refused(refusal: Refusal): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal }
}

function tidied(text: string, scrub: Scrub): string {
  return cleanString(firstOf(scrub(text), MAX_TEXT_LENGTH))
}

/** Codes are logged, counted and shown to everybody, so other text is not accepted as a code. */
function codeIn(text: string): string {
  return /^\w[\w.:-]{0,63}$/.test(text) && !holdsAddress(text) ? text : UNREADABLE
}

function idIn(text: string): string {
  return holdsAddress(text) ? UNREADABLE : text
}

function mapped(text: string | null, map: (text: string) => string): string | null {
  return text === null ? null : map(text)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
