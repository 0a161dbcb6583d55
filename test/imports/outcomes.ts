import type { Known, Told } from '#src/imports/outcome.ts'
import { lost, notSent, type Refusal, refusedByPlatform } from '#src/platform/refusal.ts'

/* What the platform may answer to a batch, and an import before it, for the tests of what becomes of both. */

export const KNOWN: Known = {
  resend: true,
  accepted: 5,
  unaccepted: 0,
  failures: 0,
  mostRows: null,
  mostRejects: 10,
  sent: 2_500,
  rejected: 0,
  doubted: 0,
}
export const UNSENT = notSent({ kind: 'network', words: 'refused' })
export const noAnswer = (httpStatus: number | null, words: string) =>
  lost({ httpStatus, requestId: null, retryAfterMs: null }, { kind: 'network', words })
export const BATCH = { rows: 500, setAside: [] }
export const origin = (httpStatus: number, retryAfterMs: number | null = null) => ({
  httpStatus,
  requestId: 'r',
  retryAfterMs,
})
export const said = (code: string, httpStatus: number) => refusedByPlatform(origin(httpStatus), code, 'No.')
export const refused = (refusal: Refusal, ...named: bigint[]): Told => ({
  kind: 'refused',
  refusal,
  named,
  isWrongPage: false,
})
export const AGAIN = { to: 'ready', setAside: [], resent: false }
export const ACCEPTED: Told = { kind: 'accepted' }
export const BAD_ROWS = refused(said('InvalidParameter', 400))
export const TOO_LARGE = refused(said('EntityTooLarge', 413))
