import type { Refusal } from '#src/platform/refusal.ts'
import { loadRejectedIds } from '#src/store/holds.ts'
import {
  finishRun,
  loadTrustedData,
  type NewRun,
  NO_COUNTS,
  type RunEnd,
  scopeIsKnown,
} from '#src/store/runs.ts'
import { applyIdentical, applyPlan, type OpenRun } from './apply.ts'
import type { InventoryContext } from './context.ts'
import { knownSetCheck, type Plan, planChanges } from './plan.ts'
import { decideRemovals, isRejected, keptAsRejected, type Removals } from './removals.ts'
import type { Reading, Source } from './source.ts'

/*
 * How one inventory of one account comes into Postgres:
 *
 *     read ──► compare ──► read again if rows are absent ──► decide ──► apply in one transaction
 *     refused? failed       the second listing is the one that is applied
 *
 * Nothing is removed unless two complete listings agree, and nothing at all is written if the lease was lost.
 */

/** Reads what the platform lists and applies it; returns what the ledger says. A refusal fails the run. */
export async function carry<Row>(
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

  const { listing } = first
  const plan = await context.limitWork(() => planChanges(context.pool, source, run.account, listing))
  const note = { dataHashes: first.dataHashes, errorCode: null, requestId: null }
  if (first.incomplete !== null) {
    const removals: Removals = {
      kind: 'keep',
      partial: true,
      why: `${first.incomplete}; nothing was removed`,
    }
    return applyPlan(context, source, run, plan, removals, { ...note, errorCode: 'ListingIncomplete' })
  }
  const needsKnownScope = plan.absent.length > 0 && run.policy.kind !== 'approved'
  if (needsKnownScope && !(await scopeIsKnown(context.pool, newRun))) {
    return applyPlan(context, source, run, plan, keptInNewScope(plan.absent), note)
  }
  const rejected = await loadRejectedIds(context.pool, newRun)
  if (run.policy.kind === 'guarded' && isRejected(plan.absent, rejected)) {
    return applyPlan(context, source, run, plan, keptAsRejected(plan.absent), note)
  }
  if (plan.absent.length === 0 || first.confirmed) {
    const removals = decideRemovals(plan.absent, plan.current, run.policy, rejected)
    return applyPlan(context, source, run, plan, removals, note)
  }
  return applySecondListing(context, source, run, plan, rejected, signal)
}

/** Rows are absent from the first listing: reads again, and removes what neither listing has. */
async function applySecondListing<Row>(
  context: InventoryContext,
  source: Source<Row>,
  run: OpenRun,
  firstPlan: Plan<Row>,
  rejected: ReadonlyMap<string, string>,
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
  const { listing } = second
  const plan = await context.limitWork(() => planChanges(context.pool, source, run.account, listing))
  const absentBefore = new Set(firstPlan.absent)
  const absentTwice = plan.absent.filter(id => absentBefore.has(id))
  // What only the second listing lacks is looked at again by the next run: its data must not pass as applied.
  const dataHashes = absentTwice.length === plan.absent.length ? second.dataHashes : null
  const removals = decideRemovals(absentTwice, plan.current, run.policy, rejected)
  return applyPlan(context, source, run, plan, removals, { dataHashes, errorCode: null, requestId: null })
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
  const isKnownSet = knownSetCheck(context.pool, source, run.account)
  const reading = await source.read({ runId: run.id, signal, trustedHashes, isKnownSet })
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
