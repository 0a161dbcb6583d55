import type { ImportState, PlatformResponse } from '#src/imports/sending/decision.ts'
import { lost, notSent, type Refusal, refusedByPlatform } from '#src/platform/refusal.ts'

/* What the platform may answer to a batch, and an import before it, for the tests of what becomes of both. */

export const STATE: ImportState = {
  resend: true,
  accepted: 5,
  unaccepted: 0,
  failures: 0,
  maxRows: null,
  maxRejects: 10,
  sent: 2_500,
  rejected: 0,
}
export const UNSENT = notSent({ kind: 'network', words: 'refused' })
export const noAnswer = (httpStatus: number | null, words: string) =>
  lost({ httpStatus, requestId: null, retryAfterMs: null }, { kind: 'network', words })
export const BATCH = { rows: 500, setAside: [], proven: 0, resends: 0, refusedAlone: null }
export const origin = (httpStatus: number, retryAfterMs: number | null = null) => ({
  httpStatus,
  requestId: 'r',
  retryAfterMs,
})
export const said = (code: string, httpStatus: number) => refusedByPlatform(origin(httpStatus), code, 'No.')
export const refused = (refusal: Refusal, ...namedLines: bigint[]): PlatformResponse => ({
  kind: 'refused',
  refusal,
  namedLines,
  isWrongPage: false,
})
export const AGAIN = { to: 'ready', setAside: [], resent: false }
export const ACCEPTED: PlatformResponse = { kind: 'accepted' }
export const BAD_ROWS = refused(said('InvalidParameter', 400))
export const TOO_LARGE = refused(said('EntityTooLarge', 413))
