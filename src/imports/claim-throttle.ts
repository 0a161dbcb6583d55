import { setTimeout as delay } from 'node:timers/promises'
import type { CallEnd, Slot, Throttle } from '#src/platform/throttle.ts'
import { type Claim, type Claimer, claimAgain, giveSlotBack } from '#src/store/imports/claims.ts'
import { patiently } from '#src/store/patience.ts'
import { lookAgainMs } from './waiting.ts'

/** The claim is not ours any more, or its import is not running: what was not sent yet is not sent by us. */
export class ClaimGone extends Error {
  override readonly name = 'ClaimGone'
}

export type ClaimThrottle = Throttle & {
  /** Whether the call was certainly not sent: its slot was never handed out, or was given back. */
  readonly isUnsent: boolean
  /** Returns how the call ended; null if it was not sent. */
  readonly ended: { readonly callId: bigint; readonly end: CallEnd } | null
}

/**
 * A throttle for the one call of a claim: it hands out the slot that was taken with the claim. One that has grown old
 * is given back, which leaves the batch without a call, and the next is taken only if the claim still stands.
 *
 * The end of the call is kept, to be recorded together with what becomes of the batch.
 */
export function throttleOf(claimer: Claimer, claim: Claim): ClaimThrottle {
  let kept: Claim | null = claim
  let handedOut: bigint | null = null
  let ended: ClaimThrottle['ended'] = null

  return {
    arrivalBoundMs: claimer.arrivalBoundMs,
    slotGoodForMs: claimer.arrivalBoundMs / 5,
    get isUnsent() {
      return handedOut === null
    },
    get ended() {
      return ended
    },
    async take(call, signal): Promise<Slot> {
      const { callId, askedAtMs } = kept ?? (await another(claimer, claim.claim, signal))
      kept = null
      handedOut = callId
      return { callId, call, askedAtMs }
    },
    async giveBack({ callId }) {
      await patiently(() => giveSlotBack(claimer, { claim: claim.claim, callId }))
      handedOut = null
    },
    async finish({ callId }, end) {
      ended = { callId, end }
    },
  }
}

async function another(claimer: Claimer, claim: string, signal: AbortSignal): Promise<Claim> {
  for (;;) {
    signal.throwIfAborted()
    const claimed = await claimAgain(claimer, claim)
    if (claimed.what === 'claimed') return claimed
    if (claimed.what !== 'wait') throw new ClaimGone('the claim does not stand any more')
    await delay(lookAgainMs(claimed), undefined, { signal })
  }
}
