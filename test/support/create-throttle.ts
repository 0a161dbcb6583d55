import type { Call, CallEnd, Permit } from '#src/model/call.ts'
import { momentNow } from '#src/model/moment.ts'
import type { Throttle } from '#src/platform/throttle.ts'

export type RecordedCall = {
  readonly permit: Permit
  state: 'open' | 'returned' | 'finished'
  end: CallEnd | null
}

/** A throttle that lets everything through and keeps what it was told. `onAcquire` may delay a permit, or make it older. */
export function createThrottle({
  permitGoodForMs = 1_000,
  arrivalBoundMs = 5_000,
  onAcquire = async () => 0,
}: {
  permitGoodForMs?: number
  arrivalBoundMs?: number
  /** Called with the number of the permit, from 1; returns how old the permit shall be. */
  onAcquire?: (n: number, signal: AbortSignal) => Promise<number>
} = {}): Throttle & { readonly calls: RecordedCall[] } {
  const calls: RecordedCall[] = []
  let asked = 0

  function end(permit: Permit, state: 'returned' | 'finished', end: CallEnd | null): void {
    const recorded = calls.find(({ permit: { callId } }) => callId === permit.callId)
    if (recorded?.state !== 'open') throw new Error(`permit ${permit.callId} ended twice, or was never taken`)
    Object.assign(recorded, { state, end })
  }
  return {
    calls,
    permitGoodForMs,
    arrivalBoundMs,
    async acquirePermit(call: Call, signal: AbortSignal) {
      signal.throwIfAborted()
      asked += 1
      const callId = BigInt(asked)
      const ageMs = await onAcquire(asked, signal)
      signal.throwIfAborted()
      const { monotonicMs, wallMs } = momentNow()
      const permit = { callId, call, askedAt: { monotonicMs: monotonicMs - ageMs, wallMs } }
      calls.push({ permit, state: 'open', end: null })
      return permit
    },
    async returnPermit(permit) {
      end(permit, 'returned', null)
    },
    async finishCall(permit, callEnd) {
      end(permit, 'finished', callEnd)
    },
  }
}
