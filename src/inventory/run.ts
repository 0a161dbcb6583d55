import { setTimeout as delay } from 'node:timers/promises'
import { FINGERPRINT_VERSION } from '#src/model/fingerprint.ts'
import { reasonOf } from '#src/model/reason.ts'
import { describeGuard } from '#src/model/removal-guard.ts'
import type { Resource } from '#src/model/resource.ts'
import type { RunResult, Trigger } from '#src/model/run.ts'
import { acquireLease, type Lease, LeaseLost } from '#src/store/leases.ts'
import {
  countRequests,
  finishRun,
  leaseNameOf,
  type NewRun,
  NO_COUNTS,
  type RunEnd,
  recordSkipped,
  startRun,
} from '#src/store/runs.ts'
import type { OpenRun } from './apply.ts'
import { carry } from './carry.ts'
import type { InventoryContext } from './context.ts'
import type { RemovalPolicy } from './removals.ts'
import type { Source } from './source.ts'

/** A run takes ten minutes at most: a listing older than that says little about now. */
const RUN_TIMEOUT_MS = 600_000

/** How often one who waits for another run looks whether it has ended. */
const LOOK_AGAIN_MS = 500

export type RunRequest = {
  readonly account: string
  readonly trigger: Trigger
  readonly slot?: Date
  /** Waits for its turn while another run is at the inventory, instead of being skipped. */
  readonly patient?: boolean
}

/** Carries one source as one run of the ledger, under the inventory's lease; removes by `policy`. */
export async function runSync<Row>(
  context: InventoryContext,
  source: Source<Row>,
  request: RunRequest,
  policy: RemovalPolicy,
  signal: AbortSignal,
): Promise<RunResult> {
  const startedAtMs = performance.now()
  const newRun: NewRun = {
    account: request.account,
    resource: source.resource,
    trigger: request.trigger,
    slot: request.slot ?? null,
    scope: source.scope,
    guard: policy.kind === 'guarded' ? describeGuard(policy.guard) : policy.kind,
    fingerprintVersion: FINGERPRINT_VERSION,
  }
  const result = (run: bigint, end: Omit<RunEnd, 'status'> & Pick<RunResult, 'status'>): RunResult => ({
    run,
    account: request.account,
    resource: source.resource,
    status: end.status,
    seen: end.seen,
    added: end.added,
    changed: end.changed,
    removed: end.removed,
    unchanged: end.unchanged,
    quarantined: end.quarantined,
    requests: end.requests,
    durationMs: Math.round(performance.now() - startedAtMs),
    errorCode: end.errorCode,
    requestId: end.requestId,
    message: end.message,
  })

  const lease = await acquireInventory(context, request, source.resource, signal)
  if ('heldBy' in lease) {
    const message = `${lease.heldBy} is syncing this inventory now; see \`ferry runs list\``
    const run = await recordSkipped(context.pool, newRun, message)
    return result(run, { ...NO_COUNTS, status: 'skipped', message })
  }
  try {
    const id = await startRun(context.pool, newRun, lease)
    const run: OpenRun = { id, account: request.account, lease, policy, requests: 0, pages: 0 }
    return result(id, await workOn(context, source, newRun, run, signal))
  } finally {
    await lease.release()
  }
}

async function acquireInventory(
  context: InventoryContext,
  request: Pick<RunRequest, 'account' | 'patient'>,
  resource: Resource,
  signal: AbortSignal,
): Promise<Lease | { readonly heldBy: string }> {
  const name = leaseNameOf(request.account, resource)
  const untilMs = performance.now() + (request.patient ? RUN_TIMEOUT_MS : 0)
  for (;;) {
    const lease = await acquireLease(context.pool, name, context.holder, context.log, context.leaseMs)
    if (!('heldBy' in lease) || signal.aborted || performance.now() >= untilMs) return lease
    await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {})
  }
}

/** Reads and applies; whatever stops it is written into the ledger. */
async function workOn<Row>(
  context: InventoryContext,
  source: Source<Row>,
  newRun: NewRun,
  run: OpenRun,
  signal: AbortSignal,
): Promise<RunEnd> {
  const timeout = AbortSignal.timeout(RUN_TIMEOUT_MS)
  const stop = AbortSignal.any([signal, run.lease.signal, timeout])
  try {
    return await carry(context, source, newRun, run, stop)
  } catch (error) {
    const why = whyStopped(error, { lease: run.lease, timeout, stop })
    const finished = countRequests(context.pool, run.id).then(async requests => {
      const end: RunEnd = { ...NO_COUNTS, status: 'failed', pages: run.pages, requests, ...why }
      await finishRun(context.pool, run.id, end)
      return end
    })
    if (why.errorCode !== 'Fault') return await finished
    // The fault may well be that the database is away; then the reconciler closes the run.
    await finished.catch(() => {})
    throw error
  }
}

function whyStopped(
  error: unknown,
  { lease, timeout, stop }: { lease: Lease; timeout: AbortSignal; stop: AbortSignal },
): { errorCode: string; message: string } {
  if (error instanceof LeaseLost || lease.signal.aborted) {
    return {
      errorCode: 'LeaseLost',
      message: 'this worker was away for too long, so its work was not applied',
    }
  }
  if (timeout.aborted) {
    return { errorCode: 'TimedOut', message: 'the run took longer than ten minutes; nothing was applied' }
  }
  if (stop.aborted)
    return { errorCode: 'Interrupted', message: 'the run was interrupted; nothing was applied' }
  return { errorCode: 'Fault', message: reasonOf(error) }
}
