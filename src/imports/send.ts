import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import type { ImportBody, SubscriberWire } from '#src/platform/contract.ts'
import {
  type BatchRow,
  type Claim,
  type Claimer,
  giveClaimBack,
  loadRows,
} from '#src/store/imports/claims.ts'
import type { Standing } from '#src/store/imports/outcomes.ts'
import { isPassing, patiently } from '#src/store/patience.ts'
import { ClaimGone, type ClaimThrottle, throttleOf } from './claim-throttle.ts'
import { recordOutcome } from './record.ts'

/**
 * What the platform said is worth a long wait for a Postgres that is away: without it the batch would be sent again, or a
 * person asked. To record it late does no harm, since a claim that was settled meanwhile keeps its outcome.
 */
const OUTCOME_PATIENCE_MS = 600_000

/** What it takes to send the batches of one import. */
export type Sender = {
  readonly claimer: Claimer
  readonly client: PlatformClient
  readonly pageId: bigint
  readonly method: string
  /** Aborted: calls are cut off. */
  readonly cutOff: AbortSignal
  readonly log: Logger
}

/**
 * Sends one claimed batch and records what the platform said; returns how the import stands then, or null if nothing
 * was recorded. Never rejects: what cannot be recorded is a claim that ends by itself, and counts as uncertain.
 */
export async function sendBatch(sender: Sender, claim: Claim): Promise<Standing | null> {
  const { claimer, client, pageId, method, cutOff, log } = sender
  const { pool, importId } = claimer
  const throttle = throttleOf(claimer, claim)
  try {
    const rows = await patiently(() => loadRows(pool, claim.batchId))
    const body: ImportBody = { page_id: pageId, method, subscribers: rows.map(subscriberOf) }
    const answer = await client.importSubscribers(body, { runId: null, signal: cutOff, throttle })
    const outcome = { importId, claim: claim.claim, pageId, rows, answer, call: throttle.ended }
    return await patiently(() => recordOutcome(pool, outcome), {
      patienceMs: OUTCOME_PATIENCE_MS,
      signal: cutOff,
    })
  } catch (error) {
    const expected = error instanceof ClaimGone || cutOff.aborted || isPassing(error)
    log[expected ? 'debug' : 'warn'](
      { batch: claim.batchId, error: reasonOf(error) },
      'a batch was not sent, or its outcome not recorded',
    )
    await letGo(claimer, claim, throttle).catch(() => {}) // then its claim ends by itself
    return null
  }
}

async function letGo(claimer: Claimer, { claim }: Claim, throttle: ClaimThrottle): Promise<void> {
  if (!throttle.isUnsent || throttle.ended) return
  await patiently(() => giveClaimBack(claimer, claim))
}

/** `component_ids` goes with `all: false` only. */
function subscriberOf({ recipient, all, componentIds, locale }: BatchRow): SubscriberWire {
  return all ? { recipient, all, locale } : { recipient, all, component_ids: [...componentIds], locale }
}
