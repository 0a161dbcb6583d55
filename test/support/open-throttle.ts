import type { Call, CallEnd, Slot, Throttle } from '#src/platform/throttle.ts'

export type RecordedCall = {
  readonly slot: Slot
  state: 'open' | 'given back' | 'finished'
  end: CallEnd | null
}

/** A throttle that lets everything through and keeps what it was told. `onTake` may delay a slot, or make it older. */
export function openThrottle({
  slotGoodForMs = 1_000,
  arrivalBoundMs = 5_000,
  onTake = async () => 0,
}: {
  slotGoodForMs?: number
  arrivalBoundMs?: number
  /** Called with the number of the slot, from 1; returns how old the slot shall be. */
  onTake?: (n: number, signal: AbortSignal) => Promise<number>
} = {}): Throttle & { readonly calls: RecordedCall[] } {
  const calls: RecordedCall[] = []
  let asked = 0

  function end(slot: Slot, state: 'given back' | 'finished', end: CallEnd | null): void {
    const recorded = calls.find(({ slot: { callId } }) => callId === slot.callId)
    if (recorded?.state !== 'open') throw new Error(`slot ${slot.callId} ended twice, or was never taken`)
    Object.assign(recorded, { state, end })
  }
  return {
    calls,
    slotGoodForMs,
    arrivalBoundMs,
    async take(call: Call, signal: AbortSignal) {
      signal.throwIfAborted()
      asked += 1
      const callId = BigInt(asked)
      const ageMs = await onTake(asked, signal)
      signal.throwIfAborted()
      const slot = { callId, call, askedAtMs: performance.now() - ageMs }
      calls.push({ slot, state: 'open', end: null })
      return slot
    },
    async giveBack(slot) {
      end(slot, 'given back', null)
    },
    async finish(slot, callEnd) {
      end(slot, 'finished', callEnd)
    },
  }
}
