import type { Pool, PoolClient } from 'pg'
import type { Answer } from '#src/platform/client.ts'
import { inTransaction } from '#src/store/database.ts'
import type { BatchRow } from '#src/store/imports/claims.ts'
import * as store from '#src/store/imports/outcomes.ts'
import { type CallEnd, finishCall } from '#src/store/throttle.ts'
import { isAboutPage, namedIn, withoutRecipients } from './named.ts'
import { type Decision, decide, decideDoubted, type Fate, type Known, type Told } from './outcome.ts'
import { type LastRefusal, pauseOf } from './pause.ts'

const NOT_FOUND = 'ResourceNotFound'

/** A call that is over. */
export type Outcome = {
  readonly importId: bigint
  readonly claim: string
  readonly pageId: bigint
  /** The rows that were sent. */
  readonly rows: readonly BatchRow[]
  readonly answer: Answer<null>
  /** Null if it was not sent after all. */
  readonly call: { readonly callId: bigint; readonly end: CallEnd } | null
}

/**
 * Writes down the end of a call and what becomes of its batch and its import, all or nothing. If the claim was settled
 * meanwhile, its batch is somebody else's, and only the call log hears of it. May be repeated.
 */
export function recordOutcome(pool: Pool, outcome: Outcome): Promise<store.Standing> {
  const { importId, claim, rows, answer, call } = outcome
  return inTransaction(pool, async client => {
    const standing = await store.lockForOutcome(client, importId)
    if (call) await finishCall(client, call.callId, call.end)
    const batch = await store.findClaimed(client, claim)
    if (!batch) return standing
    const now = await store.loadNow(client, importId)

    const told = toldBy(outcome, batch.lastCode)
    const decision = decide(batch, told, knownOf(now))
    const { fate } = decision
    if (told.kind === 'refused') {
      const { code, requestId } = told.refusal
      const message = withoutRecipients(told.refusal.message, rows)
      await store.keepReasons(client, batch.id, linesToBlame(fate, rows), { code, message, requestId })
    }
    const said = saidOf(answer, call, rows)
    await store.endClaim(client, batch, fate, said)
    if (fate.to === 'rejected') await store.rejectRows(client, importId, { allOf: batch.id })
    if (fate.to === 'sent' && batch.setAside.length > 0) {
      await store.rejectRows(client, importId, { setAsideOf: batch.id })
    }
    if (fate.to === 'sent' && now.doubted > 0) await store.rejectRows(client, importId, 'doubted')
    await remember(
      client,
      importId,
      decision,
      answer.ok ? null : { ...said, whatToDo: answer.refusal.whatToDo },
      now.rejected,
    )
    return decision
  })
}

/** Decides about the rows refused alone, when nothing else is left to send; see `decideDoubted`. */
export async function recordDoubted(pool: Pool, importId: bigint): Promise<void> {
  await inTransaction(pool, async client => {
    await store.lockForOutcome(client, importId)
    const now = await store.loadNow(client, importId)
    const decision = decideDoubted(knownOf(now))
    const said = await store.loadDoubt(client, importId)
    if (!decision.pause) await store.rejectRows(client, importId, 'doubted')
    await remember(client, importId, decision, said, now.rejected)
  })
}

function toldBy({ answer, rows, pageId }: Outcome, lastCode: string | null): Told {
  if (answer.ok) return { kind: 'accepted' }
  const { refusal } = answer
  // The status, which Ferry put there, is no page.
  const words = refusal.message.replace(`(HTTP ${refusal.httpStatus})`, '')
  const isWrongPage = refusal.code === NOT_FOUND && lastCode !== NOT_FOUND && isAboutPage(words, pageId, rows)
  return { kind: 'refused', refusal, named: namedIn(words, rows), isWrongPage }
}

function knownOf(now: store.ImportNow): Known {
  // What is left of a cancelled import is never sent again: then only a person can say what became of it.
  return { ...now, resend: now.onUncertain === 'resend' && now.status !== 'cancelled' }
}

/** The lines that what was said now may be held against. */
function linesToBlame(fate: Fate, rows: readonly BatchRow[]): bigint[] {
  const sent = rows.map(row => row.line)
  if (fate.to === 'rejected' || fate.to === 'doubted') return sent
  return fate.to === 'ready' ? sent.filter(line => fate.setAside.includes(line)) : []
}

function saidOf(answer: Answer<null>, call: Outcome['call'], rows: readonly BatchRow[]): store.Said {
  const httpStatus = call?.end.httpStatus ?? null
  if (answer.ok) return { httpStatus, errorCode: null, requestId: answer.requestId, message: null }
  const { code, requestId, message } = answer.refusal
  return { httpStatus, errorCode: code, requestId, message: withoutRecipients(message, rows) }
}

async function remember(
  client: PoolClient,
  importId: bigint,
  decision: Omit<Decision, 'fate'>,
  last: LastRefusal | null,
  rejected: number,
): Promise<void> {
  await store.rememberOutcome(client, importId, decision)
  if (decision.pause) await store.pauseRunning(client, importId, pauseOf(decision.pause, last, rejected))
}
