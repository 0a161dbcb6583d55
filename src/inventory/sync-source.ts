import type { Refusal } from '#src/platform/refusal.ts'
import { applyChanges, applyIdentical, type OpenRun } from './apply.ts'
import { type Comparison, compareListing, knownSetCheck } from './compare.ts'
import type { InventoryContext } from './context.ts'
import { decideRemovals, type Evidence, NO_EVIDENCE, needsSecondListing } from './decide.ts'
import { loadRejectedIds } from './holds.ts'
import { finishRun, type NewRun, NOTHING_DONE, type RunEnd } from './ledger.ts'
import { notConfirmed } from './messages.ts'
import { isScopeKnown } from './scope.ts'
import type { InventorySource, Reading } from './source.ts'
import { loadTrustedData } from './trusted-data.ts'

/*
 * How one inventory of one account comes into Postgres:
 *
 *     read ──► compare ──► decide ──► apply in one transaction
 *      │         ▲           │
 *      │         └───────────┴─ rows are absent: read and compare again; the second listing is the one that is applied
 *      └─ refused: the run fails
 *
 * Nothing is removed unless two complete listings agree. Nothing at all is written if the lease was lost.
 */

/** Reads what the platform lists, applies it, and returns how the run ended. A refusal fails the run. */
export async function syncSource<Row>(
  context: InventoryContext,
  source: InventorySource<Row>,
  newRun: NewRun,
  run: OpenRun,
  signal: AbortSignal,
): Promise<RunEnd> {
  const trusted = await loadTrustedData(context.pool, newRun)
  const first = await read(context, source, run, trusted.hashes, signal)
  if (first.kind === 'refused') return failRun(context, run, first.refusal)
  if (first.kind === 'identical') return applyIdentical(context, source, run, trusted)

  const { listing } = first
  const comparison = await context.limitWork(() => compareListing(context.pool, source, run.account, listing))
  const evidence = await loadEvidence(context, newRun, comparison)
  const removals = decideRemovals(first.incomplete, comparison, run.policy, evidence)
  if (!first.confirmed && needsSecondListing(removals, comparison)) {
    return applySecondListing(context, source, run, comparison, evidence, signal)
  }
  return applyChanges(context, source, run, comparison, removals, {
    dataHashes: first.dataHashes,
    errorCode: removals.kind === 'partial' ? 'ListingIncomplete' : null,
    requestId: null,
  })
}

/** What earlier runs and people said of the rows that are absent now. */
export async function loadEvidence(
  { pool }: Pick<InventoryContext, 'pool'>,
  run: Pick<NewRun, 'account' | 'resource' | 'scope'>,
  { absent }: Pick<Comparison<unknown>, 'absent'>,
): Promise<Evidence> {
  if (absent.length === 0) return NO_EVIDENCE
  return { isScopeKnown: await isScopeKnown(pool, run), rejected: await loadRejectedIds(pool, run) }
}

/** Reads again, and decides about the rows that neither listing has. */
async function applySecondListing<Row>(
  context: InventoryContext,
  source: InventorySource<Row>,
  run: OpenRun,
  before: Comparison<Row>,
  evidence: Evidence,
  signal: AbortSignal,
): Promise<RunEnd> {
  const second = await read(context, source, run, [], signal)
  if (second.kind !== 'read' || second.incomplete !== null) {
    const refusal = second.kind === 'refused' ? second.refusal : null
    const why = notConfirmed(before.absent.length, refusal?.message ?? null)
    const removals = decideRemovals(why, before, run.policy, evidence)
    return applyChanges(context, source, run, before, removals, {
      dataHashes: null,
      errorCode: refusal?.code ?? 'ListingIncomplete',
      requestId: refusal?.requestId ?? null,
    })
  }
  const { listing } = second
  const comparison = await context.limitWork(() => compareListing(context.pool, source, run.account, listing))
  const absentBefore = new Set(before.absent)
  const absent = comparison.absent.filter(id => absentBefore.has(id))
  // The next run looks again at what only the second listing lacks, so this data must not count as applied.
  const dataHashes = absent.length === comparison.absent.length ? second.dataHashes : null
  const removals = decideRemovals(null, { ...comparison, absent }, run.policy, evidence)
  return applyChanges(context, source, run, comparison, removals, {
    dataHashes,
    errorCode: null,
    requestId: null,
  })
}

async function read<Row>(
  context: InventoryContext,
  source: InventorySource<Row>,
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
    ...NOTHING_DONE,
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
