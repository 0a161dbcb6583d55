import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Permit } from '#src/model/call.ts'
import { reasonOf } from '#src/model/reason.ts'
import { isTransient } from '#src/model/transient-error.ts'
import type { ImportCall, PlatformClient } from '#src/platform/client.ts'
import type { SubscriberWire } from '#src/platform/contract.ts'
import type { BatchRow } from './batch-in-flight.ts'
import { type Claim, newPermit, pollAfterMs } from './claims.ts'
import type { SendState } from './import-state.ts'
import type { Steps } from './steps.ts'

/*
 * One batch from its claim to its outcome:
 *
 *     claim ──► loadRows ──► send ──► persistOutcome (decides, then writes)
 *                 │          │  ▲
 *                 │          ▼  │ the permit expired before anything was sent
 *                 │       renewPermit
 *                 ▼          ▼
 *              releaseUnsent: nothing was sent, and nothing will be
 */

/** Everything that sending the batches of one import needs. */
export type Sender = {
  readonly steps: Steps
  readonly client: PlatformClient
  readonly pageId: bigint
  readonly method: string
  /** Aborted: calls are cut off; their outcome is uncertain. */
  readonly cutOff: AbortSignal
  readonly log: Logger
  /** Called with how long the next call has waited for its permit. */
  readonly onWaited?: (ms: number) => void
}

/**
 * Sends one claimed batch and records what the platform answered. Returns the state of the import then, or null if
 * nothing was recorded. Never rejects: a claim whose outcome cannot be recorded ends by itself and counts as uncertain.
 */
export async function sendBatch(sender: Sender, claim: Claim): Promise<SendState | null> {
  const { steps, pageId, cutOff, log } = sender
  let call: ImportCall | null = null
  try {
    const rows = await steps.loadRows(claim.batchId)
    call = await send(sender, claim, rows)
    return await steps.persistOutcome({ claim: claim.claim, pageId, rows, call })
  } catch (error) {
    const isExpected = error instanceof ClaimGone || cutOff.aborted || isTransient(error)
    log[isExpected ? 'debug' : 'warn'](
      { batch: claim.batchId, error: reasonOf(error) },
      'A batch was not sent, or its outcome was not recorded.',
    )
    const isUnsent = call === null || call.end === null
    if (isUnsent) await steps.releaseUnsent(claim.claim).catch(() => {}) // then its claim ends by itself
    return null
  }
}

/** Rejects only if nothing was sent. */
function send(sender: Sender, { claim, permit }: Claim, rows: readonly BatchRow[]): Promise<ImportCall> {
  const { client, steps, pageId, method, cutOff } = sender
  const body = { page_id: pageId, method, subscribers: rows.map(subscriberOf) }
  return client.importSubscribers(body, {
    permit,
    renewPermit: (expired, signal) => renewPermit(steps, claim, expired, signal),
    signal: cutOff,
  })
}

/** `component_ids` goes with `all: false` only. */
function subscriberOf({ recipient, all, componentIds, locale }: BatchRow): SubscriberWire {
  return all ? { recipient, all, locale } : { recipient, all, component_ids: [...componentIds], locale }
}

/** The claim is not ours any more, or its import is not running: what was not sent yet is not sent by us. */
class ClaimGone extends Error {
  override readonly name = 'ClaimGone'
}

/**
 * Returns a permit that expired, which leaves the claim without a call, and acquires another as long as the claim may be
 * sent: a pause, a cancellation or a lost lease takes effect here too.
 */
async function renewPermit(
  steps: Steps,
  claim: string,
  expired: Permit,
  signal: AbortSignal,
): Promise<Permit> {
  await steps.returnPermit(claim, expired)
  for (;;) {
    signal.throwIfAborted()
    const result = await steps.claim(newPermit(claim))
    if (result.what === 'claimed') return result.claim.permit
    if (result.what !== 'wait') throw new ClaimGone('the claim does not stand any more')
    await delay(pollAfterMs(result), undefined, { signal })
  }
}
