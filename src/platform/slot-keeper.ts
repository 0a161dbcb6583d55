import type { Call, Slot, Throttle } from './throttle.ts'

/** Holds at most one slot for a call. */
export type SlotKeeper = {
  /** Returns the slot held, or, if there is none or it has grown old, another one. Throws like `Throttle.take`. */
  fresh(signal: AbortSignal): Promise<Slot>
  /** Gives back the slot held, if there is one: nothing was sent with it. */
  giveBack(): Promise<void>
}

/** `onStale` hears of each slot that was too old before it was used. */
export function keepSlot(throttle: Throttle, call: Call, onStale: () => void): SlotKeeper {
  let held: Slot | null = null

  async function giveBack(): Promise<void> {
    const slot = held
    held = null
    if (slot !== null) await throttle.giveBack(slot)
  }
  return {
    giveBack,
    async fresh(signal) {
      while (held === null || performance.now() - held.askedAtMs > throttle.slotGoodForMs) {
        if (held !== null) onStale()
        await giveBack()
        held = await throttle.take(call, signal)
        // Whoever aborted may have looked already, and found nothing to give back.
        if (signal.aborted) await giveBack()
        signal.throwIfAborted()
      }
      return held
    },
  }
}
