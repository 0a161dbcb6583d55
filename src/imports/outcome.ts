import type { Refusal, RefusalKind } from '#src/platform/refusal.ts'

/*
 * What becomes of a batch, and of its import, after a call. Decided here, of nothing but what is given; written down in
 * `record.ts`.
 *
 *   accepted                                   sent; rows set aside before, or doubted, are rejects now
 *   409, 423, 429, 503, not sent               refused for certain: again after a while
 *   500, 502, 504, no JSON, no answer,         uncertain: sent again, or held for a person
 *   an answer that breaks the contract
 *   413                                        halved; one row is a reject, or doubted until a call is accepted
 *   400 that names recipients                  again without them
 *   400 that names the page, and nothing yet   again once a person has resumed the import; after that as any other
 *   was accepted
 *   any other 400                              halved; one row is doubted until another call is accepted
 *   401, 402, 403, 404, 405, 407, ...          again once a person has resumed the import
 */

/** Refusals in a row that leave the fault of a row open: after so many it is the import's, not a row's. */
const MOST_UNACCEPTED = 12

/**
 * So many answers that name one recipient more are no reason for doubt, if the platform has accepted calls of the
 * import. Otherwise four batches in flight with a few bad rows each would soon be twelve refusals in a row.
 */
const NAMINGS_WITHOUT_DOUBT = 3

const MOST_FAILURES = 10
const MOST_REJECTED_SHARE = 0.01

const FIRST_BACK_OFF_MS = 1_000
const LONGEST_BACK_OFF_MS = 60_000
/** A `Retry-After` beyond it is not believed. */
const LONGEST_RETRY_AFTER_MS = 600_000

/** A batch that was sent without those of its rows that are set aside. */
export type SentBatch = { readonly rows: number; readonly setAside: readonly bigint[] }

/** What the platform said. */
export type Told =
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'refused'
      readonly refusal: Refusal
      /** The lines sent whose recipient its message names. */
      readonly named: readonly bigint[]
      /** Whether it says that there is no such page, and has not said so of this batch before. */
      readonly isWrongPage: boolean
    }

/** What is known of the import before the answer. */
export type Known = {
  /** Whether a batch of uncertain outcome is to be sent again. */
  readonly resend: boolean
  readonly accepted: number
  readonly unaccepted: number
  readonly failures: number
  readonly mostRows: number | null
  readonly mostRejects: number
  /** Rows sent, rejected by the platform, and refused alone. */
  readonly sent: number
  readonly rejected: number
  readonly doubted: number
}

export type Fate =
  | { readonly to: 'sent' }
  | { readonly to: 'ready'; readonly setAside: readonly bigint[]; readonly resent: boolean }
  | { readonly to: 'uncertain' | 'split' | 'doubted' | 'rejected' }

/** `platform`: what it said is the reason. The others are told in words by `pause.ts`. */
export type PauseCause = 'platform' | 'page' | 'failures' | 'unaccepted' | 'rejects'

export type Decision = {
  readonly fate: Fate
  readonly accepted: number
  readonly unaccepted: number
  readonly failures: number
  /** Until when the import backs off; null if it need not. */
  readonly retryAfterMs: number | null
  readonly mostRows: number | null
  readonly mostRejects: number
  readonly pause: PauseCause | null
}

export function decide(batch: SentBatch, told: Told, known: Known): Decision {
  if (told.kind === 'accepted') return accepted(batch, known)
  const { refusal } = told
  switch (natureOf(refusal)) {
    case 'for-now':
      return refusedForNow(again(batch), refusal, known)
    case 'uncertain':
      return refusedForNow(
        known.resend ? { ...again(batch), resent: true } : { to: 'uncertain' },
        refusal,
        known,
      )
    case 'too-large':
      return tooLarge(batch, known)
    case 'rows':
      // Whoever resumes it all the same says that there is the page: then the fault may be in a row after all.
      return told.isWrongPage && known.accepted + known.unaccepted === 0
        ? { ...paused(unchanged(known), 'page'), fate: again(batch) }
        : refusedForRows(batch, told.named, known)
    case 'import':
      return { ...paused(unchanged(known), 'platform'), fate: again(batch) }
  }
}

/**
 * What becomes of the rows refused alone when nothing else is left to send: rejects if the platform accepts calls of
 * this import, else the fault is not known to be theirs.
 */
export function decideDoubted(known: Known): Omit<Decision, 'fate'> {
  if (known.accepted === 0) return paused(unchanged(known), 'unaccepted')
  return tooManyRejects(known, known.doubted, 0)
    ? pausedForRejects(unchanged(known), known, known.doubted)
    : unchanged(known)
}

type Nature = 'for-now' | 'uncertain' | 'too-large' | 'rows' | 'import'

const NATURES: Partial<Record<RefusalKind, Nature>> = {
  order: 'for-now',
  locked: 'for-now',
  'too-frequent': 'for-now',
  unavailable: 'for-now',
  'not-sent': 'for-now',
  'too-large': 'too-large',
  'invalid-request': 'rows',
}

/** The code decides, except where the status says that work was done, or may have been. */
function natureOf({ kind, certain, httpStatus }: Refusal): Nature {
  const isSuccess = httpStatus !== null && httpStatus < 300
  const isServerError = httpStatus !== null && httpStatus >= 500 && httpStatus !== 503
  if (!certain || isSuccess || isServerError) return 'uncertain'
  return NATURES[kind] ?? 'import'
}

function accepted({ setAside, rows }: SentBatch, known: Known): Decision {
  const proven = setAside.length + known.doubted
  const next = { ...unchanged(known), accepted: known.accepted + 1, unaccepted: 0, failures: 0 }
  const isTooMuch = proven > 0 && tooManyRejects(known, proven, rows - setAside.length)
  return { ...(isTooMuch ? pausedForRejects(next, known, proven) : next), fate: { to: 'sent' } }
}

/** A 429 costs no failure, whoever is to blame: the throttle makes everybody wait. */
function refusedForNow(fate: Fate, { kind, retryAfterMs }: Refusal, known: Known): Decision {
  if (kind === 'too-frequent') return { ...unchanged(known), fate }
  const failures = known.failures + 1
  if (failures >= MOST_FAILURES) return { ...paused(unchanged(known), 'failures'), fate }
  const growing = Math.min(FIRST_BACK_OFF_MS * 2 ** (failures - 1), LONGEST_BACK_OFF_MS)
  const asked = Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS)
  return { ...unchanged(known), fate, failures, retryAfterMs: Math.max(growing, asked) }
}

/** A row too large by itself says nothing about how many others fit. */
function tooLarge(batch: SentBatch, known: Known): Decision {
  const sent = batch.rows - batch.setAside.length
  const unaccepted = known.unaccepted + 1
  const next = { ...unchanged(known), unaccepted, failures: 0 }
  if (unaccepted >= MOST_UNACCEPTED) return { ...paused(next, 'unaccepted'), fate: again(batch) }
  if (batch.rows === 1) {
    const alone = { ...next, mostRows: null }
    return known.accepted === 0 ? { ...alone, fate: { to: 'doubted' } } : rejected(batch, alone, known)
  }
  const mostRows = Math.max(1, Math.min(Math.floor(sent / 2), known.mostRows ?? sent))
  return { ...next, fate: { to: 'split' }, mostRows }
}

function refusedForRows(batch: SentBatch, named: readonly bigint[], known: Known): Decision {
  const isPlain = named.length > 0 && known.accepted > 0 && batch.setAside.length < NAMINGS_WITHOUT_DOUBT
  const unaccepted = known.unaccepted + (isPlain ? 0 : 1)
  const next = { ...unchanged(known), unaccepted, failures: 0 }
  if (unaccepted >= MOST_UNACCEPTED) return { ...paused(next, 'unaccepted'), fate: again(batch) }
  const setAside = [...batch.setAside, ...named]
  if (named.length > 0) {
    return setAside.length < batch.rows
      ? { ...next, fate: { to: 'ready', setAside, resent: false } }
      : rejected(batch, next, known)
  }
  return { ...next, fate: { to: batch.rows === 1 ? 'doubted' : 'split' } }
}

/** All rows of a batch, unless that would be more than can be the fault of rows. */
function rejected(batch: SentBatch, next: Omit<Decision, 'fate'>, known: Known): Decision {
  return tooManyRejects(known, batch.rows, 0)
    ? { ...pausedForRejects(next, known, batch.rows), fate: again(batch) }
    : { ...next, fate: { to: 'rejected' } }
}

function tooManyRejects(known: Known, more: number, moreSent: number): boolean {
  const rejected = known.rejected + more
  return rejected > known.mostRejects && rejected > MOST_REJECTED_SHARE * (known.sent + moreSent + rejected)
}

/** Nothing of what led to a pause counts against the import once a person has resumed it. */
function paused(next: Omit<Decision, 'fate'>, pause: PauseCause): Omit<Decision, 'fate'> {
  return { ...next, unaccepted: 0, failures: 0, retryAfterMs: null, pause }
}

/** Whoever resumes it all the same accepts as many again. */
function pausedForRejects(next: Omit<Decision, 'fate'>, known: Known, more: number): Omit<Decision, 'fate'> {
  return { ...paused(next, 'rejects'), mostRejects: 2 * (known.rejected + more) }
}

function again({ setAside }: SentBatch) {
  return { to: 'ready', setAside, resent: false } as const
}

function unchanged(known: Known): Omit<Decision, 'fate'> {
  const { accepted, unaccepted, failures, mostRows, mostRejects } = known
  return { accepted, unaccepted, failures, mostRows, mostRejects, retryAfterMs: null, pause: null }
}
