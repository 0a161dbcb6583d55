import { setTimeout as delay } from 'node:timers/promises'
import type { Lease } from '#src/db/leases.ts'
import type { ImportContext } from '#src/imports/context.ts'
import { type Claim, newClaim } from './claims.ts'
import type { SendState } from './import-state.ts'
import { maxInFlight } from './in-flight.ts'
import { pollAfterMs } from './poll.ts'
import { type Sender, sendBatch } from './send.ts'
import { listWaitingImports } from './waiting-imports.ts'
import { endOf, type WorkEnd, type WorkOptions } from './work-end.ts'

/** An import that has waited for so long lets others go on, whether it has made its calls or not. */
const LONG_WAIT_MS = 5_000

const LOOK_FOR_OTHERS_EVERY_MS = 1_000

/** Claims and sends batches, several at a time. Returns once none is in flight any more. */
export async function sendBatches(
  { pool, accounts }: ImportContext,
  sender: Sender,
  started: SendState,
  lease: Lease,
  { signal, yieldAfterCalls = Number.POSITIVE_INFINITY }: WorkOptions,
): Promise<WorkEnd> {
  const inFlight = new Set<Promise<void>>()
  let state: SendState = started
  let calls = 0
  let servedAtMs = performance.now()
  let lookedAtMs = Number.NEGATIVE_INFINITY

  async function send(claim: Claim): Promise<void> {
    state = (await sendBatch(sender, claim)) ?? state
  }

  /** Whether another import waits for its turn. Postgres is asked once a second at most. */
  async function isOthersTurn(): Promise<boolean> {
    const nowMs = performance.now()
    const hadItsTurn = calls >= yieldAfterCalls || nowMs - servedAtMs > LONG_WAIT_MS
    if (!Number.isFinite(yieldAfterCalls) || !hadItsTurn || nowMs - lookedAtMs < LOOK_FOR_OTHERS_EVERY_MS)
      return false
    lookedAtMs = nowMs
    return (await listWaitingImports(pool, [...accounts.keys()])).length > 0
  }

  async function claimNext(): Promise<WorkEnd | null> {
    const result = await sender.steps.claim(newClaim())
    switch (result.what) {
      case 'claimed': {
        calls += 1
        servedAtMs = performance.now()
        const flight: Promise<void> = send(result.claim).finally(() => inFlight.delete(flight))
        inFlight.add(flight)
        return null
      }
      case 'ended':
        return endOf(result.status)
      case 'lost':
        return 'busy'
      case 'exhausted': {
        const left = await sender.steps.end()
        if (left.what === 'ended') return endOf(left.status)
        await waitFor(pollAfterMs(left))
        return null
      }
      case 'wait': {
        const sinceMs = performance.now()
        await waitFor(pollAfterMs(result))
        sender.onWaited?.(performance.now() - sinceMs)
        return null
      }
    }
  }

  /** Waits so long, or until a call ends: its outcome may change what can be claimed. */
  async function waitFor(ms: number): Promise<void> {
    const over = new AbortController()
    const stop = AbortSignal.any([over.signal, signal, lease.signal])
    await Promise.race([delay(ms, undefined, { signal: stop }).catch(() => {}), ...inFlight])
    over.abort()
  }

  try {
    for (;;) {
      if (signal.aborted) return 'stopped'
      if (lease.signal.aborted) return 'busy'
      if (inFlight.size >= maxInFlight(state)) {
        await Promise.race(inFlight)
        continue
      }
      if (await isOthersTurn()) return 'yielded'
      const end = await claimNext()
      if (end) return end
    }
  } finally {
    await Promise.all(inFlight)
  }
}
