import { setTimeout as delay } from 'node:timers/promises'
import { FINGERPRINT_VERSION } from '#src/model/fingerprint.ts'
import { describeGuard } from '#src/model/removal-guard.ts'
import type { Resource } from '#src/model/resource.ts'
import type { RunResult, Trigger } from '#src/model/run.ts'
import type { Refusal } from '#src/platform/refusal.ts'
import { acquireLease, type Lease, LeaseLost } from '#src/store/leases.ts'
import {
  countRequests,
  finishRun,
  leaseNameOf,
  loadTrustedData,
  type NewRun,
  NO_COUNTS,
  type RunEnd,
  recordSkipped,
  scopeIsKnown,
  startRun,
} from '#src/store/runs.ts'
import { loadCurrentIds } from '#src/store/versions.ts'
import { alertRules } from './alert-rules.ts'
import { applyIdentical, applyPlan, type OpenRun } from './apply.ts'
import type { InventoryAccount, InventoryContext } from './context.ts'
import { mcpServers } from './mcp-servers.ts'
import { type Plan, planChanges } from './plan.ts'
import { decideRemovals, type RemovalPolicy, type Removals } from './removals.ts'
import type { Reading, Source } from './source.ts'

/*
 * Carries one inventory of one account into Postgres:
 *
 *     lease ──► read ──► compare ──► read again if rows are absent ──► decide ──► apply in one transaction
 *               refused? failed       the second listing is the one that is applied
 *
 * Nothing is removed unless two complete listings agree, and nothing at all is written if the lease was lost.
 */

export type SyncRequest = {
  readonly account: string
  readonly resource: Resource
  readonly trigger: Trigger
  readonly slot?: Date
  /** Instead of the folders configured for the account. */
  readonly folders?: readonly bigint[]
  /** Waits for its turn while another run is at the inventory, instead of being skipped. */
  readonly patient?: boolean
  /** A person looked and allows whatever removals this run finds. */
  readonly acceptRemovals?: boolean
}

/** A run takes ten minutes at most: a listing older than that says little about now. */
const RUN_TIMEOUT_MS = 600_000

/** How often one who waits for another run looks whether it has ended. */
const LOOK_AGAIN_MS = 500

/**
 * Syncs one inventory and returns what the ledger says of it. A refusal by the platform, a lost lease and an
 * interruption are results (`failed`); only faults of ours and an unreachable database throw.
 */
export function syncInventory(
  context: InventoryContext,
  request: SyncRequest,
  signal: AbortSignal,
): Promise<RunResult> {
  const account = accountOf(context, request.account)
  const policy: RemovalPolicy = request.acceptRemovals
    ? { kind: 'accepted' }
    : { kind: 'guarded', guard: context.removalGuard }
  return request.resource === 'alert-rules'
    ? syncSource(context, alertRules(account, request.folders), request, policy, signal)
    : syncSource(context, mcpServers(account), request, policy, signal)
}

export function accountOf(context: InventoryContext, name: string): InventoryAccount {
  const account = context.accounts.get(name)
  if (!account)
    throw new Error(`no account is called ${name}; there are: ${[...context.accounts.keys()].join(', ')}`)
  return account
}

/** Syncs one source under the inventory's lease, removing by `policy`. */
export async function syncSource<Row>(
  context: InventoryContext,
  source: Source<Row>,
  request: Pick<SyncRequest, 'account' | 'trigger' | 'slot' | 'patient'>,
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
  request: Pick<SyncRequest, 'account' | 'patient'>,
  resource: Resource,
  signal: AbortSignal,
): Promise<Lease | { readonly heldBy: string }> {
  const name = leaseNameOf(request.account, resource)
  const untilMs = performance.now() + (request.patient ? RUN_TIMEOUT_MS : 0)
  for (;;) {
    const lease = await acquireLease(context.pool, name, context.holder, context.log)
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
    return await readAndApply(context, source, newRun, run, stop)
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
  return { errorCode: 'Fault', message: error instanceof Error ? error.message : String(error) }
}

async function readAndApply<Row>(
  context: InventoryContext,
  source: Source<Row>,
  newRun: NewRun,
  run: OpenRun,
  signal: AbortSignal,
): Promise<RunEnd> {
  const trusted = await loadTrustedData(context.pool, newRun)
  const first = await read(context, source, run, trusted.hashes, signal)
  if (first.kind === 'refused') return failRun(context, run, first.refusal)
  if (first.kind === 'identical') return applyIdentical(context, source, run, trusted)

  const plan = await planChanges(context.pool, source, run.account, first.listing)
  const note = { dataHashes: first.dataHashes, errorCode: null, requestId: null }
  if (first.incomplete !== null) {
    const removals: Removals = {
      kind: 'keep',
      partial: true,
      why: `${first.incomplete}; nothing was removed`,
    }
    return applyPlan(context, source, run, plan, removals, { ...note, errorCode: 'ListingIncomplete' })
  }
  if (plan.absent.length === 0 || first.confirmed) {
    return applyPlan(context, source, run, plan, await decide(context, newRun, run, plan, plan.absent), note)
  }
  if (run.policy.kind !== 'approved' && !(await scopeIsKnown(context.pool, newRun))) {
    return applyPlan(context, source, run, plan, keptInNewScope(plan.absent), note)
  }
  return applySecondListing(context, source, newRun, run, plan, signal)
}

/** Rows are absent from the first listing: reads again, and removes what neither listing has. */
async function applySecondListing<Row>(
  context: InventoryContext,
  source: Source<Row>,
  newRun: NewRun,
  run: OpenRun,
  firstPlan: Plan<Row>,
  signal: AbortSignal,
): Promise<RunEnd> {
  const second = await read(context, source, run, [], signal)
  if (second.kind !== 'read' || second.incomplete !== null) {
    const refusal = second.kind === 'refused' ? second.refusal : null
    return applyPlan(context, source, run, firstPlan, unconfirmed(firstPlan.absent, refusal), {
      dataHashes: null,
      errorCode: refusal?.code ?? 'ListingIncomplete',
      requestId: refusal?.requestId ?? null,
    })
  }
  const plan = await planChanges(context.pool, source, run.account, second.listing)
  const absentBefore = new Set(firstPlan.absent)
  const absentTwice = plan.absent.filter(id => absentBefore.has(id))
  // What only the second listing lacks is looked at again by the next run: its data must not pass as applied.
  const dataHashes = absentTwice.length === plan.absent.length ? second.dataHashes : null
  const removals = await decide(context, newRun, run, plan, absentTwice)
  return applyPlan(context, source, run, plan, removals, { dataHashes, errorCode: null, requestId: null })
}

async function decide<Row>(
  context: InventoryContext,
  newRun: NewRun,
  run: OpenRun,
  plan: Plan<Row>,
  absent: readonly string[],
): Promise<Removals> {
  if (absent.length > 0 && run.policy.kind !== 'approved' && !(await scopeIsKnown(context.pool, newRun))) {
    return keptInNewScope(absent)
  }
  return decideRemovals(absent, plan.current, run.policy)
}

function keptInNewScope(absent: readonly string[]): Removals {
  const why = `${absent.length} rows stored before were not listed; the first run in a new scope removes nothing`
  return { kind: 'keep', partial: false, why }
}

function unconfirmed(absent: readonly string[], refusal: Refusal | null): Removals {
  const reason = refusal
    ? `the second listing failed: ${refusal.message}`
    : 'the second listing was not complete'
  return {
    kind: 'keep',
    partial: true,
    why: `${absent.length} rows were not listed, but ${reason}; nothing was removed`,
  }
}

async function read<Row>(
  context: InventoryContext,
  source: Source<Row>,
  run: OpenRun,
  trustedHashes: readonly string[],
  signal: AbortSignal,
): Promise<Reading<Row>> {
  const reading = await source.read({
    runId: run.id,
    signal,
    trustedHashes,
    isKnownSet: async ids => {
      const known = await loadCurrentIds(context.pool, source.table, run.account)
      return known.size === ids.size && known.isSubsetOf(ids)
    },
  })
  run.requests += reading.requests
  run.pages += reading.pages
  return reading
}

async function failRun(context: InventoryContext, run: OpenRun, refusal: Refusal): Promise<RunEnd> {
  const end: RunEnd = {
    ...NO_COUNTS,
    status: 'failed',
    requests: run.requests,
    pages: run.pages,
    errorCode: refusal.code,
    requestId: refusal.requestId,
    message: `${refusal.message} ${refusal.whatToDo}`,
  }
  await finishRun(context.pool, run.id, end)
  return end
}
