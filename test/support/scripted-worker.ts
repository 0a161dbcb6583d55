import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { OwnCall } from '#src/db/known-database.ts'
import { endLease, takeLease } from '#src/db/lease-rows.ts'
import { type Claim, type ClaimContext, newClaim } from '#src/imports/sending/claims.ts'
import type { EndResult } from '#src/imports/sending/end-import.ts'
import { sendBatch } from '#src/imports/sending/send.ts'
import { stepsOf } from '#src/imports/sending/steps.ts'
import { findImport } from '#src/imports/sending/work.ts'
import type { Verdict } from '#src/platform/answer.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import type { Exchange } from '#src/platform/post.ts'
import { lost, refusedByPlatform } from '#src/platform/refusal.ts'
import { callEndOf } from '#src/platform/request.ts'
import { ageImport } from './age-import.ts'

/*
 * A worker that does as a test says, step by step, with a platform that answers as the test says: it brings an import to
 * any state that the work on it can have.
 */

/** How the platform answers a call. */
export type ScriptedAnswer = Verdict<null>

export const ACCEPTED = accepted('req-1')
/** No answer comes: the outcome is uncertain. */
export const LOST: ScriptedAnswer = {
  ok: false,
  refusal: lost(
    { httpStatus: null, requestId: null, retryAfterMs: null },
    { kind: 'network', words: 'reset' },
  ),
}

export function accepted(requestId: string): ScriptedAnswer {
  return { ok: true, data: null, requestId }
}

export function refused(
  httpStatus: number,
  code: string,
  { message = 'No.', requestId = 'req-2', retryAfterMs = null as number | null } = {},
): ScriptedAnswer {
  return { ok: false, refusal: refusedByPlatform({ httpStatus, requestId, retryAfterMs }, code, message) }
}

export const UNAVAILABLE = refused(503, 'ServiceUnavailable')
export const UNAUTHORIZED = refused(401, 'Unauthorized')
export const TOO_LARGE = refused(413, 'EntityTooLarge')
/** Something is wrong with the rows, whichever. */
export const BAD_ROWS = refused(400, 'InvalidParameter')

/** These recipients are wrong. */
export function naming(...recipients: readonly string[]): ScriptedAnswer {
  return refused(400, 'InvalidParameter', { message: `${recipients.join(' and ')} are not valid` })
}

export type ScriptedWorker = AsyncDisposable & {
  readonly context: ClaimContext
  /** Claims the next batch. If the import backs off, that time passes first. */
  claim(): Promise<Claim>
  /** Does the same; null if nothing is left to claim, or the import does not run any more. */
  tryClaim(): Promise<Claim | null>
  /** Sends a claimed batch, and records the answer. */
  send(claim: Claim, answer: ScriptedAnswer): Promise<void>
  /** Gives up a claim of which nothing was sent. */
  release(claim: Claim): Promise<void>
  /** Returns the permit of a claim and keeps the claim, as a worker whose permit has expired. */
  returnPermit(claim: Claim): Promise<void>
  /** Ends the import, of which nothing is left to claim. */
  end(): Promise<EndResult>
}

const HOUR_MS = 3_600_000
const NEVER = new AbortController().signal

/**
 * Starts the work on an import, under a lease of its own: imports of one page may have a worker each. What is claimed and
 * not sent stays in flight, for `claimMs`.
 */
export async function openScriptedWorker(
  pool: Pool,
  importId: bigint,
  { claimMs = HOUR_MS / 4, limitKey }: { claimMs?: number; limitKey?: string } = {},
): Promise<ScriptedWorker> {
  const head = await findImport(pool, importId)
  if (!head) throw new Error(`there is no import ${importId}`)
  const { account, pageId, method } = head
  const [name, token] = [`test:${importId}`, randomUUID()]
  const lease = { name, token, signal: NEVER, release: async () => {}, wasEnded() {} }
  if (!(await takeLease(pool, lease.name, lease.token, 'test', HOUR_MS))) {
    throw new Error(`import ${importId} has a worker already`)
  }
  const windows = [{ maxCalls: 100_000, windowMs: 60_000 }]
  const limit = { limitKey: limitKey ?? `account:${account}`, windows }
  const context = {
    pool,
    importId,
    account,
    lease,
    limit,
    arrivalBoundMs: 5_000,
    claimMs,
    ownCall: new OwnCall(),
    noticeDatabase: async () => null,
  }
  const steps = stepsOf(context, NEVER)
  if (!(await steps.start(lease, NEVER))) throw new Error(`import ${importId} cannot be started`)

  async function tryClaim(): Promise<Claim | null> {
    let result = await steps.claim(newClaim())
    if (result.what === 'wait') {
      await ageImport(pool, importId, `${result.waitMs} ms`)
      result = await steps.claim(newClaim())
    }
    if (result.what === 'exhausted' || result.what === 'ended') return null
    if (result.what !== 'claimed') throw new Error(`nothing was claimed: ${result.what}`)
    return result.claim
  }
  return {
    context,
    tryClaim,
    async claim() {
      const claim = await tryClaim()
      if (!claim) throw new Error('nothing is left to claim')
      return claim
    },
    async send(claim, answer) {
      const client = clientThatAnswers(answer)
      const sender = { steps, client, pageId, method, cutOff: NEVER, log: pino({ level: 'silent' }) }
      if (!(await sendBatch(sender, claim))) throw new Error(`batch ${claim.batchId} was not sent`)
    },
    release: ({ claim }) => steps.releaseUnsent(claim),
    returnPermit: ({ claim, permit }) => steps.returnPermit(claim, permit),
    end: () => steps.end(),
    [Symbol.asyncDispose]: async () => void (await endLease(pool, lease)),
  }
}

/** Has the next batches sent, one after another, and answered like this. Returns their ids. */
export async function sendBatches(
  pool: Pool,
  importId: bigint,
  answers: readonly ScriptedAnswer[],
): Promise<bigint[]> {
  await using worker = await openScriptedWorker(pool, importId)
  const ids: bigint[] = []
  for (const answer of answers) {
    const claim = await worker.claim()
    await worker.send(claim, answer)
    ids.push(claim.batchId)
  }
  return ids
}

/** Has the whole import sent, every call answered like this, until it has ended. */
export async function sendAll(pool: Pool, importId: bigint, answer = ACCEPTED): Promise<void> {
  await using worker = await openScriptedWorker(pool, importId)
  for (let claim = await worker.tryClaim(); claim; claim = await worker.tryClaim()) {
    await worker.send(claim, answer)
  }
  await worker.end()
}

function clientThatAnswers(answer: ScriptedAnswer): PlatformClient {
  const importSubscribers: PlatformClient['importSubscribers'] = async (_body, { permit }) => ({
    answer: { ...answer, requests: 1 },
    permit,
    end: callEndOf(
      { kind: 'answered', httpStatus: 200, answeredAtMs: performance.now() } as Exchange,
      answer,
    ),
  })
  return { importSubscribers } as PlatformClient
}
