import { setTimeout as delay } from 'node:timers/promises'
import type { Lease } from '#src/db/leases.ts'
import type { ImportContext } from '#src/imports/context.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { type Claim, newClaim, pollAfterMs } from './claims.ts'
import type { SendState } from './import-state.ts'
import { type Sender, sendBatch } from './send.ts'
import { listWaitingImports } from './waiting-imports.ts'

/**
 * How the work on an import ended.
 *
 *   completed, undecided, paused, cancelled   the import's own status
 *   yielded   another import waits for its turn, or this one would wait for too long
 *   busy      another worker processes an import of this page, or did and a call of it may still be in flight
 *   waiting   it is not confirmed, an older import of this page is sent first, or its account is not configured here
 *   stopped   the signal aborted
 */
export type WorkEnd = Resting | 'yielded' | 'busy' | 'waiting' | 'stopped'

type Resting = Exclude<ImportStatus, 'staging' | 'queued' | 'running'>

export type WorkOptions = {
  /** Aborted: nothing more is claimed; the work ends with the calls in flight. */
  readonly signal: AbortSignal
  /** Aborted: calls in flight are cut off; their outcome is uncertain. */
  readonly cutOff?: AbortSignal
  readonly yieldAfterCalls?: number
  /** The work yields rather than wait for longer than this. */
  readonly waitAtMostMs?: number
}

/** How the work ends on an import of this status. */
export function endOf(status: ImportStatus): WorkEnd {
  switch (status) {
    case 'staging':
    case 'queued':
    case 'running':
      return 'waiting'
    default:
      return status
  }
}

/** An import that has waited this long lets others continue, whether it has made its calls or not. */
const LONG_WAIT_MS = 5_000

const LOOK_FOR_OTHERS_EVERY_MS = 1_000

/** The batches of an import that are sent under its lease, several at a time. */
export class BatchSending {
  readonly #sender: Sender
  readonly #lease: Lease
  readonly #signal: AbortSignal
  readonly #yieldAfterCalls: number | null
  readonly #waitAtMostMs: number
  readonly #isAnyWaiting: () => Promise<boolean>
  readonly #inFlight = new Set<Promise<void>>()
  #state: SendState
  /** Calls so far, when the last one was claimed, and when Postgres was last asked for other imports. */
  #calls = 0
  #servedAtMs = performance.now()
  #lookedAtMs = Number.NEGATIVE_INFINITY

  constructor(
    { pool, accounts }: ImportContext,
    sender: Sender,
    started: SendState,
    lease: Lease,
    { signal, yieldAfterCalls, waitAtMostMs }: WorkOptions,
  ) {
    this.#sender = sender
    this.#lease = lease
    this.#signal = signal
    this.#yieldAfterCalls = yieldAfterCalls ?? null
    this.#waitAtMostMs = waitAtMostMs ?? Number.POSITIVE_INFINITY
    this.#isAnyWaiting = async () => (await listWaitingImports(pool, [...accounts.keys()])).length > 0
    this.#state = started
  }

  /** Claims and sends batches. Returns once no call is in flight. */
  async run(): Promise<WorkEnd> {
    try {
      for (;;) {
        if (this.#signal.aborted) return 'stopped'
        if (this.#lease.signal.aborted) return 'busy'
        if (this.#inFlight.size >= maxInFlight(this.#state)) {
          await Promise.race(this.#inFlight)
          continue
        }
        if (await this.#isOthersTurn()) return 'yielded'
        const end = await this.#claimNext()
        if (end) return end
      }
    } finally {
      await Promise.all(this.#inFlight)
    }
  }

  /** Whether another import waits for its turn. Postgres is asked once a second at most. */
  async #isOthersTurn(): Promise<boolean> {
    if (this.#yieldAfterCalls === null) return false
    const nowMs = performance.now()
    const hadItsTurn = this.#calls >= this.#yieldAfterCalls || nowMs - this.#servedAtMs > LONG_WAIT_MS
    if (!hadItsTurn || nowMs - this.#lookedAtMs < LOOK_FOR_OTHERS_EVERY_MS) return false
    this.#lookedAtMs = nowMs
    return this.#isAnyWaiting()
  }

  async #claimNext(): Promise<WorkEnd | null> {
    const { steps, onWaited } = this.#sender
    const result = await steps.claim(newClaim())
    switch (result.what) {
      case 'claimed': {
        this.#calls++
        this.#servedAtMs = performance.now()
        const flight: Promise<void> = this.#send(result.claim).finally(() => this.#inFlight.delete(flight))
        this.#inFlight.add(flight)
        return null
      }
      case 'ended':
        return endOf(result.status)
      case 'lost':
        return 'busy'
      case 'exhausted': {
        const left = await steps.end()
        if (left.what === 'ended') return endOf(left.status)
        if (this.#isTooLong(left)) return 'yielded'
        await this.#waitFor(pollAfterMs(left))
        return null
      }
      case 'wait': {
        if (this.#isTooLong(result)) return 'yielded'
        const sinceMs = performance.now()
        await this.#waitFor(pollAfterMs(result))
        onWaited?.(performance.now() - sinceMs)
        return null
      }
    }
  }

  /** A call in flight ends soon, and may change what can be claimed. */
  #isTooLong({ waitMs }: { readonly waitMs: number }): boolean {
    return this.#inFlight.size === 0 && waitMs > this.#waitAtMostMs
  }

  async #send(claim: Claim): Promise<void> {
    this.#state = (await sendBatch(this.#sender, claim)) ?? this.#state
  }

  /** Waits this long, or until a call ends: its outcome may change what can be claimed. */
  async #waitFor(ms: number): Promise<void> {
    const over = new AbortController()
    const stop = AbortSignal.any([over.signal, this.#signal, this.#lease.signal])
    await Promise.race([delay(ms, undefined, { signal: stop }).catch(() => {}), ...this.#inFlight])
    over.abort()
  }
}

/** So that a platform that takes 10 s to answer still gets 20 calls a minute. */
const MAX_IN_FLIGHT = 4

/**
 * Returns how many calls of an import may be in flight: one until a call was accepted, and after one that failed, because
 * what is wrong should cost few calls.
 */
export function maxInFlight({ accepted, failures }: SendState): number {
  return accepted === 0 || failures > 0 ? 1 : MAX_IN_FLIGHT
}
