import type { Pool, PoolClient } from 'pg'
import { recordCallEnd } from '#src/db/call-log.ts'
import { inTransaction } from '#src/db/pool.ts'
import { isAboutNoRow, isAboutPage, namedIn, withoutRecipients } from '#src/imports/recipient-text.ts'
import type { ImportCall } from '#src/platform/client.ts'
import { isCodeOfContract } from '#src/platform/refusal-kinds.ts'
import { type BatchInFlight, type BatchRow, endClaim, findClaimed, keepReasons } from './batch-in-flight.ts'
import { type ClaimContext, removeCall } from './claims.ts'
import { decide } from './decide.ts'
import type { Disposition, ImportDecision, PlatformResponse } from './decision.ts'
import { lockImport, type SendState, stopImport, updateImport } from './import-state.ts'
import { type LateOutcome, persistLateOutcome } from './late-outcome.ts'
import { type LastRefusal, pauseOf, type ResponseDetails } from './pause.ts'
import { endSetAside, rejectRows } from './reject-rows.ts'
import { retrySuspects } from './suspects.ts'

const NOT_FOUND = 'ResourceNotFound'

/** A call that is over, or was not made. */
export type CallOutcome = {
  readonly claim: string
  readonly pageId: bigint
  /** The rows that were sent. */
  readonly rows: readonly BatchRow[]
  readonly call: ImportCall
}

/**
 * Records the end of a call and the decision about its batch and its import, all or nothing. If the claim was reclaimed
 * meanwhile, its batch is not this worker's any more: then only the call log is written, and a definite outcome as one that
 * came late. May be repeated.
 */
export async function persistOutcome(
  { pool, importId, ownCall }: Pick<ClaimContext, 'pool' | 'importId' | 'ownCall'>,
  outcome: CallOutcome,
): Promise<SendState> {
  const call = withoutPeople(outcome)
  const { state, isLate } = await persistInTime(pool, importId, outcome, call)
  if (call.permit && call.end) ownCall.remember(call.permit, call.end)
  if (isLate && call.permit) {
    const late = lateOutcomeOf(call)
    if (late) await persistLateOutcome(pool, importId, call.permit.callId, late)
  }
  return state
}

function persistInTime(
  pool: Pool,
  importId: bigint,
  outcome: CallOutcome,
  call: ImportCall,
): Promise<{ readonly state: SendState; readonly isLate: boolean }> {
  const { claim, rows } = outcome
  return inTransaction(pool, async client => {
    const locked = await lockImport(client, importId)
    if (call.end) await recordCallEnd(client, call.permit.callId, call.end)
    else if (call.permit) await removeCall(client, importId, claim, call.permit)
    const batch = await findClaimed(client, claim)
    if (!batch) return { state: locked, isLate: true }
    const decision = decide(batch, responseOf(outcome, batch), locked)
    const { disposition } = decision
    const details = detailsOf(call)
    const blamed = linesToBlame(disposition, rows)
    if (blamed.length > 0) await keepReasons(client, batch.id, blamed, details)
    await endClaim(client, batch, disposition, details)
    if (disposition.to === 'rejected') await rejectRows(client, importId, { allOf: batch.id })
    if (disposition.to === 'sent' && batch.setAside.length > 0) {
      await endSetAside(client, importId, batch.id, batch.uncertain)
    }
    if (disposition.to === 'sent' && batch.suspects > 0 && call.permit) {
      await retrySuspects(client, importId, call.permit.callId)
    }
    const last = call.answer.ok ? null : { ...details, whatToDo: call.answer.refusal.whatToDo }
    await persistDecision(client, importId, decision, last, locked.rejected)
    return { state: decision, isLate: false }
  })
}

/** Writes what was decided about an import; `last` is the refusal that a pause is explained with. */
export async function persistDecision(
  client: PoolClient,
  importId: bigint,
  decision: ImportDecision,
  last: LastRefusal | null,
  rejected: number,
): Promise<void> {
  await updateImport(client, importId, decision)
  if (decision.pause) await stopImport(client, importId, pauseOf(decision.pause, last, rejected))
}

/**
 * A person who resumes the import says that the page exists. If what was refused for the page is refused so again, the fault
 * may be in a row after all. But no row is rejected for it only because a person resumed.
 */
function responseOf(
  { call: { answer }, rows, pageId }: CallOutcome,
  { lastCode, asked }: Pick<BatchInFlight, 'lastCode' | 'asked'>,
): PlatformResponse {
  if (answer.ok) return { kind: 'accepted' }
  const { refusal } = answer
  // Ferry put the status there: its number is not the page.
  const words = refusal.message.replace(`(HTTP ${refusal.httpStatus})`, '')
  // "The status page does not exist", in any language: what was not found and is nothing of a row is the page.
  const isPage = isAboutPage(words, pageId, rows) || (refusal.code === NOT_FOUND && isAboutNoRow(words, rows))
  const isWrongPage = (refusal.code !== lastCode || asked) && isPage
  return { kind: 'refused', refusal, namedLines: namedIn(words, rows), isWrongPage }
}

/** The lines that may be rejected for this answer. */
function linesToBlame(disposition: Disposition, rows: readonly BatchRow[]): bigint[] {
  const sent = rows.map(row => row.line)
  if (disposition.to === 'rejected' || disposition.to === 'suspect') return sent
  return disposition.to === 'ready' ? sent.filter(line => disposition.setAside.includes(line)) : []
}

function detailsOf({ answer, end }: ImportCall): ResponseDetails {
  const httpStatus = end?.httpStatus ?? null
  if (answer.ok) return { httpStatus, errorCode: null, requestId: answer.requestId, message: null }
  const { code, requestId, message } = answer.refusal
  return { httpStatus, errorCode: code, requestId, message }
}

/** Null if nothing is certain. */
function lateOutcomeOf(call: ImportCall): LateOutcome | null {
  const { answer, end } = call
  if (!end) return { kind: 'not sent' }
  if (!answer.ok && !answer.refusal.certain) return null
  return { kind: answer.ok ? 'accepted' : 'refused', details: detailsOf(call) }
}

/** The call as it may be stored: no text of a refusal names a recipient. */
function withoutPeople({ call, rows }: CallOutcome): ImportCall {
  const { answer } = call
  if (answer.ok) return call
  const { code, requestId, message } = answer.refusal
  const clean = {
    code: isCodeOfContract(code) ? code : withoutRecipients(code, rows),
    requestId: requestId === null ? null : withoutRecipients(requestId, rows),
  }
  const refusal = { ...answer.refusal, ...clean, message: withoutRecipients(message, rows) }
  const end = call.end && { ...call.end, errorCode: clean.code, requestId: clean.requestId }
  return { ...call, end, answer: { ...answer, refusal } } as ImportCall
}
