import { setTimeout as delay } from 'node:timers/promises'
import { type Claimed, type Claimer, claimBatch } from '#src/store/imports/claims.ts'
import type { Standing } from '#src/store/imports/outcomes.ts'
import { findImport, leaseNameOf, type Started, startImport } from '#src/store/imports/start.ts'
import { listWaitingImports } from '#src/store/imports/waiting.ts'
import { acquireLease, type Lease, LeaseLost } from '#src/store/leases.ts'
import { patiently } from '#src/store/patience.ts'
import type { ImportContext } from './context.ts'
import { ImportNotFound } from './errors.ts'
import { recordDoubted } from './record.ts'
import { type Sender, sendBatch } from './send.ts'
import { lookAgainMs } from './waiting.ts'

/*
 * The work on one import, by one worker at a time:
 *
 *     lease ──► leave out whom others sent ──► claim ──► send ──► record ──► claim ...
 *
 * What is to be done next is decided by `ferry.claim_batch`, under the lock of the import's row: so a pause, a
 * cancellation, another worker or a restart of this one need nothing of what is remembered here.
 */

/**
 * How a spell of work on an import ended.
 *
 *   completed, undecided, paused, cancelled   the import's own status
 *   yielded   another import waits for its turn
 *   busy      somebody else is at an import of this page, or was and a call of it may still be under way
 *   waiting   it is not confirmed, an older import of this page goes first, or its account is not known here
 *   stopped   the signal aborted
 */
export type WorkEnd =
  | 'completed'
  | 'undecided'
  | 'paused'
  | 'cancelled'
  | 'yielded'
  | 'busy'
  | 'waiting'
  | 'stopped'

export type WorkOptions = {
  /** Aborted: nothing more is claimed, and calls in flight are waited for. */
  readonly signal: AbortSignal
  /** Aborted: calls in flight are cut off; their outcome is uncertain. */
  readonly cutOff?: AbortSignal
  readonly yieldAfterCalls?: number
}

/** A dead worker's import is free again after so long. A suspended one finds its lease gone before it sends. */
const LEASE_MS = 6_000

/** So that a platform that takes 10 s to answer is still sent 20 calls a minute. */
const MOST_IN_FLIGHT = 4

/** One who waits for so long lets others go on, whether it has made its calls or not. */
const LONG_WAIT_MS = 5_000

const NEVER = new AbortController().signal

/**
 * Sends an import's batches under its lease until it ends, is paused, or `yieldAfterCalls` are spent while another
 * import waits. A refusal by the platform is no error; throws `ImportNotFound`, and faults of ours or of Postgres, after
 * which another spell goes on where this one ended.
 */
export async function workImport(ferry: ImportContext, id: bigint, options: WorkOptions): Promise<WorkEnd> {
  const head = await findImport(ferry.pool, id)
  if (!head) throw new ImportNotFound(id)
  const account = ferry.accounts.get(head.account)
  if (head.status !== 'queued' && head.status !== 'running') return endOf(head.status)
  if (!account || head.isBehind) return 'waiting'

  const log = ferry.log.child({ import: id, account: head.account })
  const lease = await acquireLease(ferry.pool, leaseNameOf(head), ferry.holder, log, LEASE_MS)
  if ('heldBy' in lease) return 'busy'
  try {
    const started = await ferry.limitWork(() =>
      patiently(() => startImport(ferry.pool, id, lease, options.signal)),
    )
    if (!started) return options.signal.aborted ? 'stopped' : 'busy'
    const claimer: Claimer = {
      pool: ferry.pool,
      importId: id,
      lease,
      limit: account.importLimit,
      arrivalBoundMs: ferry.arrivalBoundMs,
      claimMs: ferry.requestTimeoutMs + ferry.arrivalBoundMs,
    }
    const { client } = account
    const { pageId, method } = head
    const sender = { claimer, client, pageId, method, cutOff: options.cutOff ?? NEVER, log }
    const end = await sendBatches(ferry, sender, started, lease, options)
    log.debug({ end }, 'the work on an import ended for now')
    return end
  } catch (error) {
    if (error instanceof LeaseLost) return 'busy'
    throw error
  } finally {
    await lease.release()
  }
}

/** Claims and sends, several batches at a time; returns once none is in flight any more. */
async function sendBatches(
  ferry: ImportContext,
  sender: Sender,
  started: Started,
  lease: Lease,
  { signal, yieldAfterCalls = Number.POSITIVE_INFINITY }: WorkOptions,
): Promise<WorkEnd> {
  const { claimer } = sender
  const inFlight = new Set<Promise<void>>()
  let standing: Standing = started
  let calls = 0
  let servedAtMs = performance.now()
  let lookedAtMs = Number.NEGATIVE_INFINITY

  async function send(claim: Extract<Claimed, { what: 'claimed' }>): Promise<void> {
    standing = (await sendBatch(sender, claim)) ?? standing
  }

  /** Whether it is another import's turn; looked up once a second at most. */
  async function isOthersTurn(): Promise<boolean> {
    const nowMs = performance.now()
    const hadItsTurn = calls >= yieldAfterCalls || nowMs - servedAtMs > LONG_WAIT_MS
    if (!Number.isFinite(yieldAfterCalls) || !hadItsTurn || nowMs - lookedAtMs < 1_000) return false
    lookedAtMs = nowMs
    return (await listWaitingImports(ferry.pool, [...ferry.accounts.keys()])).length > 0
  }

  async function claimNext(): Promise<WorkEnd | null> {
    const claimed = await claimBatch(claimer)
    switch (claimed.what) {
      case 'claimed': {
        calls += 1
        servedAtMs = performance.now()
        const flight: Promise<void> = send(claimed).finally(() => inFlight.delete(flight))
        inFlight.add(flight)
        return null
      }
      case 'ended':
        return endOf(claimed.status)
      case 'lost':
        return 'busy'
      case 'doubted':
        await patiently(() => recordDoubted(claimer.pool, claimer.importId))
        return null
      case 'wait':
      case 'in flight':
        await waitFor(lookAgainMs(claimed))
        return null
    }
  }

  /** Waits so long, but no longer than until a call ends: it may have changed everything. */
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
      if (inFlight.size >= mostInFlight(standing)) {
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

/** One at a time until a call has been accepted, and after one that failed: what is wrong then should cost few calls. */
function mostInFlight({ accepted, failures }: Standing): number {
  return accepted === 0 || failures > 0 ? 1 : MOST_IN_FLIGHT
}

function endOf(status: string): WorkEnd {
  switch (status) {
    case 'completed':
    case 'undecided':
    case 'paused':
    case 'cancelled':
      return status
    default:
      return 'waiting'
  }
}
