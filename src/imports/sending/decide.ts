import type { ImportStatus, OnUncertain } from '#src/model/import.ts'
import { MAX_RETRY_AFTER_MS } from '#src/model/limit.ts'
import type { Refusal } from '#src/platform/refusal.ts'
import {
  batchRefusalOf,
  type Decision,
  type Disposition,
  type ImportDecision,
  type ImportState,
  type PauseCause,
  type PlatformResponse,
  type SentBatch,
} from './decision.ts'

/*
 * Decides the new state of a batch and of its import after a call. These are pure functions; `persist-outcome.ts` writes
 * their results.
 *
 *   accepted                                   sent; rows set aside become rejects, or are sent alone; suspects are sent again
 *   409, 423, 503 of the platform, any 429,    refused for certain: again after a while
 *   not sent
 *   500, 502, 504, no JSON, no answer, an      uncertain: sent again, halved every fifth time, or held for a person
 *   answer that breaks the contract
 *   413                                        halved; one row is a reject, or a suspect as long as no call was accepted
 *   400 that names recipients                  again without them
 *   400 that names the page                    again once a person has resumed the import
 *   any other 400                              halved; one row is a suspect, or a reject if it was one before
 *   401, 402, 403, 404, 405, 407, ...          again once a person has resumed the import
 *
 * 409, 423, 503, 400 and 4xx that may be a gateway's (`Refusal.isPlatforms`) leave the batch uncertain, whatever else they mean.
 *
 * A suspect is a row that was refused alone. The fault may be the page's, so it is sent alone once more: after a call was
 * accepted that began after the refusal, or, when nothing else is left to send, if other rows of a batch that was refused with
 * it were accepted after that. If not, the import is paused, and it is sent again once a person has resumed it. Refused again
 * with the same code, it is a reject. A row that was named is one too once the rest of its batch is accepted, but with a code
 * that may mean the page it has to be refused alone as well.
 */

/** Refusals in a row that may be the fault of a row. After this number, the fault is taken to be in the import. */
const MAX_UNACCEPTED = 12

/**
 * From this number of refusals in a row on, the largest batch is sent instead of the smallest: it may have no fault, and one
 * accepted call keeps the import from being paused.
 */
export const LARGEST_FIRST_AFTER = 9

/**
 * If the platform has accepted a call before, the first three answers that name a wrong recipient in a batch are not counted
 * as refusals. Otherwise four batches in flight with a few bad rows each would soon be twelve refusals in a row.
 */
const MAX_NAMINGS_NOT_COUNTED = 3

/**
 * The code with which a row that is named is at fault, once the rest of its batch is accepted: something sent is not valid. The
 * others may mean the page, whomever they name, and the page may have come back.
 */
export const PROVES_FAULT = 'InvalidParameter'

export const MAX_FAILURES = 10

/**
 * Each time that a batch is to be sent again for so many more times, it is halved, or its rows that were set aside are parted from it,
 * and all others are sent before these parts (`claim_next_batch.sql`): one row may be why, and must not keep the rest from being sent.
 */
const HALVED_AFTER = 5

/** An import is paused once the platform has rejected more than this share of its rows, and more rows than its limit. */
export const MAX_REJECTED_SHARE = 0.01

const FIRST_BACK_OFF_MS = 1_000
const MAX_BACK_OFF_MS = 60_000

export function decide(batch: SentBatch, response: PlatformResponse, state: ImportState): Decision {
  if (response.kind === 'accepted') return accepted(batch, state)
  const { refusal } = response
  switch (batchRefusalOf(refusal)) {
    case 'for-now':
      return refusedForNow(again(batch), refusal, state)
    case 'uncertain':
      return refusedForNow(uncertain(batch, state.resend), refusal, state)
    case 'too-large':
      return tooLarge(batch, refusal, state)
    case 'rows':
      return response.isWrongPage
        ? { ...paused(unchanged(state), 'page'), disposition: again(batch) }
        : refusedForRows(batch, refusal, response.namedLines, state)
    case 'import':
      return { ...paused(unchanged(state), 'platform'), disposition: afterRefusal(batch, refusal, state) }
  }
}

/**
 * Decides about a batch whose claim expired without an outcome. One without a call was never sent. It is not halved: that its worker
 * was lost is no fault of a row, and an outcome that comes late is to find it.
 */
export function decideExpired(batch: SentBatch & { readonly called: boolean }, resend: boolean): Disposition {
  return batch.called ? resentOrHeld(batch, resend) : again(batch)
}

/**
 * Whether an import sends uncertain batches again by itself. The rest of a cancelled one is never sent again: then only a
 * person can find out the outcome.
 */
export function resendsUncertain(onUncertain: OnUncertain, status: ImportStatus): boolean {
  return onUncertain === 'resend' && status !== 'cancelled'
}

/**
 * Decides about the suspects when nothing else is left to send: `retried` of them are sent once more, since the platform has
 * accepted the rows around them. If that is none, the fault may not be theirs, and a person is asked by a pause.
 */
export function decideSuspects(state: ImportState, retried: number): ImportDecision {
  return retried === 0 ? paused(unchanged(state), 'suspects') : unchanged(state)
}

function accepted({ setAside, proven, rows }: SentBatch, state: ImportState): Decision {
  const next = { ...unchanged(state), accepted: state.accepted + 1, unaccepted: 0, failures: 0 }
  const isTooMuch = proven > 0 && tooManyRejects(state, proven, rows - setAside.length)
  return { ...(isTooMuch ? pausedForRejects(next, state, proven) : next), disposition: { to: 'sent' } }
}

/** A 429 does not count as a failure of the import: the throttle makes every caller wait. */
function refusedForNow(
  disposition: Disposition,
  { kind, certain, retryAfterMs }: Refusal,
  state: ImportState,
): Decision {
  if (kind === 'too-frequent' && certain) return { ...unchanged(state), disposition }
  const failures = state.failures + 1
  if (failures >= MAX_FAILURES) return { ...paused(unchanged(state), 'failures'), disposition }
  const growing = Math.min(FIRST_BACK_OFF_MS * 2 ** (failures - 1), MAX_BACK_OFF_MS)
  const asked = Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)
  return { ...unchanged(state), disposition, failures, retryAfterMs: Math.max(growing, asked) }
}

/**
 * One row that is too large says nothing about how many others fit. If the size was refused by another than the platform, the
 * batch is uncertain, but smaller ones are sent anyway.
 */
function tooLarge(batch: SentBatch, refusal: Refusal, state: ImportState): Decision {
  const { certain } = refusal
  if (batch.rows === 1 && !certain) return refusedForNow(uncertain(batch, state.resend), refusal, state)
  const sent = batch.rows - batch.setAside.length
  const unaccepted = state.unaccepted + 1
  const next = { ...unchanged(state), unaccepted, failures: 0 }
  if (unaccepted >= MAX_UNACCEPTED) {
    return { ...paused(next, 'unaccepted'), disposition: afterRefusal(batch, refusal, state) }
  }
  if (batch.rows === 1) {
    const alone = { ...next, maxRows: null }
    const isFirst = state.accepted === 0 && batch.refusedAlone !== refusal.code
    return isFirst ? { ...alone, disposition: { to: 'suspect' } } : rejected(batch, alone, state)
  }
  const maxRows = Math.max(1, Math.min(Math.floor(sent / 2), state.maxRows ?? sent))
  const split: Disposition = { to: 'split', resent: !certain }
  return { ...next, disposition: certain || state.resend ? split : { to: 'uncertain' }, maxRows }
}

function refusedForRows(
  batch: SentBatch,
  { code }: Refusal,
  namedLines: readonly bigint[],
  state: ImportState,
): Decision {
  const isPlain =
    namedLines.length > 0 && state.accepted > 0 && batch.setAside.length < MAX_NAMINGS_NOT_COUNTED
  const unaccepted = state.unaccepted + (isPlain ? 0 : 1)
  const next = { ...unchanged(state), unaccepted, failures: 0 }
  if (unaccepted >= MAX_UNACCEPTED) return { ...paused(next, 'unaccepted'), disposition: again(batch) }
  const setAside = [...batch.setAside, ...namedLines]
  if (namedLines.length > 0 && setAside.length < batch.rows) {
    return { ...next, disposition: { to: 'ready', setAside, resent: false } }
  }
  if (batch.rows > 1) return { ...next, disposition: { to: 'split', resent: false } }
  return batch.refusedAlone === code
    ? rejected(batch, next, state)
    : { ...next, disposition: { to: 'suspect' } }
}

/** Rejects the only row of a batch, unless the import has too many rejects then. */
function rejected(batch: SentBatch, next: ImportDecision, state: ImportState): Decision {
  return tooManyRejects(state, batch.rows, 0)
    ? { ...pausedForRejects(next, state, batch.rows), disposition: again(batch) }
    : { ...next, disposition: { to: 'rejected' } }
}

function tooManyRejects(state: ImportState, more: number, moreSent: number): boolean {
  const rejected = state.rejected + more
  return rejected > state.maxRejects && rejected > MAX_REJECTED_SHARE * (state.sent + moreSent + rejected)
}

/** The refusals before a pause no longer count once a person has resumed the import. */
function paused(next: ImportDecision, pause: PauseCause): ImportDecision {
  return { ...next, unaccepted: 0, failures: 0, retryAfterMs: null, pause }
}

/** A person who resumes the import accepts as many rejects again. */
function pausedForRejects(next: ImportDecision, state: ImportState, more: number): ImportDecision {
  return { ...paused(next, 'rejects'), maxRejects: 2 * (state.rejected + more) }
}

function afterRefusal(batch: SentBatch, { certain }: Refusal, { resend }: ImportState): Disposition {
  return certain ? again(batch) : uncertain(batch, resend)
}

function uncertain(batch: SentBatch, resend: boolean): Disposition {
  const isHalved = batch.rows > 1 && (batch.resends + 1) % HALVED_AFTER === 0
  return resend && isHalved ? { to: 'split', resent: true } : resentOrHeld(batch, resend)
}

function resentOrHeld(batch: SentBatch, resend: boolean): Disposition {
  return resend ? { ...again(batch), resent: true } : { to: 'uncertain' }
}

function again({ setAside }: SentBatch) {
  return { to: 'ready', setAside, resent: false } as const
}

function unchanged(state: ImportState): ImportDecision {
  const { accepted, unaccepted, failures, maxRows, maxRejects } = state
  return { accepted, unaccepted, failures, maxRows, maxRejects, retryAfterMs: null, pause: null }
}
