import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { acquireLease, type Lease, LeaseLost } from '#src/db/leases.ts'
import type { InventoryContext } from '#src/inventory/context.ts'
import { InstantPassed } from '#src/inventory/history/choose-instant.ts'
import { HoldEnded } from '#src/inventory/holds/holds.ts'
import {
  HOLD_ENDED,
  INSTANT_PASSED,
  INTERRUPTED,
  LEASE_LOST,
  skippedFor,
  timedOutAfter,
} from '#src/inventory/messages.ts'
import type { RemovalPolicy } from '#src/inventory/publish/decide.ts'
import type { InventorySource } from '#src/inventory/source.ts'
import type { ActedBy } from '#src/model/act.ts'
import { DECLARATIONS } from '#src/model/declarations.ts'
import { reasonOf } from '#src/model/reason.ts'
import { describeGuard } from '#src/model/removal-guard.ts'
import type { Inventory } from '#src/model/resource.ts'
import { outcomeOf, type RunOutcome, type RunResult, type Trigger } from '#src/model/run.ts'
import {
  failRun,
  findLastRefusal,
  type NewRun,
  NOTHING_DONE,
  type OpenRun,
  recordSkipped,
  startRun,
} from './ledger.ts'
import { findAppliedRun } from './list-runs.ts'
import { leaseNameOf } from './lost-runs.ts'
import { syncSource } from './sync-source.ts'

/** The longest a run may take: an older listing says little about the present. */
const RUN_LIMIT_MS = 600_000

const TIMED_OUT = 'TimedOut'

/** How often a run that waits for another one checks whether that one has ended. */
const LOOK_AGAIN_MS = 500

export type RunRequest = {
  readonly account: string
  readonly trigger: Trigger
  readonly slot?: Date
  /** Who asks for it; left out if a worker starts it. */
  readonly by?: ActedBy
  /** Waits while another run syncs the inventory, instead of being skipped. */
  readonly waitsForOther?: boolean
  /** Is called once no other run can begin: throws if there is nothing to do any more. */
  readonly confirm?: () => Promise<unknown>
}

/** Syncs one source as one run of the ledger, under the lease of its inventory. Removes rows by `policy`. */
export async function runSync<Row>(
  context: InventoryContext,
  source: InventorySource<Row>,
  request: RunRequest,
  policy: RemovalPolicy,
  signal: AbortSignal,
): Promise<RunResult> {
  const startedAtMs = performance.now()
  const inventory: Inventory = { account: request.account, resource: source.resource }
  const newRun: NewRun = {
    ...inventory,
    trigger: request.trigger,
    slot: request.slot ?? null,
    scope: source.scope,
    guard: policy.kind === 'guarded' ? describeGuard(policy.guard) : policy.kind,
    fingerprintVersion: DECLARATIONS[source.resource].fingerprintVersion,
    by: request.by ?? null,
  }
  const result = (run: bigint, outcome: RunOutcome): RunResult => ({
    ...outcomeOf(outcome),
    ...inventory,
    run,
    durationMs: Math.round(performance.now() - startedAtMs),
  })

  const lease = await acquireInventory(context, inventory, request.waitsForOther ?? false, signal)
  if ('heldBy' in lease) {
    const message = skippedFor(lease.heldBy)
    const run = await recordSkipped(context.pool, newRun, message)
    return result(run, { ...NOTHING_DONE, status: 'skipped', message })
  }
  try {
    await request.confirm?.()
    const id = await startRun(context.pool, newRun, lease)
    const run: OpenRun = { id, account: request.account, lease, policy, requests: 0, pages: 0 }
    return result(id, await syncOrFail(context, source, newRun, run, signal))
  } finally {
    await lease.release()
  }
}

async function acquireInventory(
  context: InventoryContext,
  inventory: Inventory,
  waits: boolean,
  signal: AbortSignal,
): Promise<Lease | { readonly heldBy: string }> {
  const untilMs = performance.now() + (waits ? runLimitOf(context) : 0)
  for (;;) {
    const name = leaseNameOf(inventory)
    const lease = await acquireLease(context.pool, name, context.holder, context.log, {
      lifeMs: context.leaseMs,
    })
    if (!('heldBy' in lease) || signal.aborted || performance.now() >= untilMs) return lease
    await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {})
  }
}

function runLimitOf({ runLimitMs = RUN_LIMIT_MS }: InventoryContext): number {
  return runLimitMs
}

/** Syncs the source; records in the ledger whatever stops it. Throws for faults of Ferry. */
async function syncOrFail<Row>(
  context: InventoryContext,
  source: InventorySource<Row>,
  newRun: NewRun,
  run: OpenRun,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const limitMs = runLimitOf(context)
  const timeout = AbortSignal.timeout(limitMs)
  const stop = AbortSignal.any([signal, run.lease.signal, timeout])
  try {
    return await syncSource(context, source, newRun, run, stop)
  } catch (error) {
    const why = whyStopped(error, { lease: run.lease, timeout, limitMs, stop })
    const finished = recordStop(context.pool, run, why)
    if (why.errorCode !== 'Fault') return await finished.then(({ end, applied }) => applied ?? end)
    // The fault may be that the database cannot be reached; then the reconciler ends the run.
    const applied = await finished.then(
      found => found.applied,
      () => null,
    )
    if (applied) return applied
    throw error
  }
}

type WhyStopped = { readonly errorCode: string; readonly message: string }

/** Records the end of a run that was stopped. It may have ended already: the answer to its commit was lost. */
async function recordStop(pool: Pool, run: OpenRun, { errorCode, message }: WhyStopped) {
  const refusal = errorCode === TIMED_OUT ? await findLastRefusal(pool, run.id) : undefined
  const { end, isFinished } = await failRun(pool, run, {
    errorCode,
    requestId: refusal?.requestId ?? null,
    message: refusal
      ? `${message}; the last refusal was HTTP ${refusal.httpStatus} (${refusal.code})`
      : message,
  })
  return { end, applied: isFinished ? null : await findAppliedRun(pool, run.id) }
}

function whyStopped(
  error: unknown,
  {
    lease,
    timeout,
    limitMs,
    stop,
  }: { lease: Lease; timeout: AbortSignal; limitMs: number; stop: AbortSignal },
): WhyStopped {
  if (error instanceof LeaseLost || lease.signal.aborted)
    return { errorCode: 'LeaseLost', message: LEASE_LOST }
  if (error instanceof HoldEnded) return { errorCode: 'HoldEnded', message: HOLD_ENDED }
  if (error instanceof InstantPassed) return { errorCode: 'InstantPassed', message: INSTANT_PASSED }
  if (timeout.aborted) return { errorCode: TIMED_OUT, message: timedOutAfter(limitMs / 60_000) }
  if (stop.aborted) return { errorCode: 'Interrupted', message: INTERRUPTED }
  return { errorCode: 'Fault', message: reasonOf(error) }
}
