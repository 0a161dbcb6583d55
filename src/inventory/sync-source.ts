import type { Refusal } from '#src/platform/refusal.ts'
import { findAbsent } from './absence.ts'
import { applyChanges, applyIdentical, type Found, removedBy } from './apply.ts'
import { type ChangeWriter, openChangeWriter } from './change-writer.ts'
import type { InventoryContext } from './context.ts'
import {
  type Absence,
  decideRemovals,
  type Evidence,
  NO_EVIDENCE,
  needsSecondListing,
  type Removals,
} from './decide.ts'
import { loadRejectedIds } from './holds.ts'
import type { AppliedRun } from './known-rows.ts'
import { finishRun, type NewRun, NOTHING_DONE, type RunEnd } from './ledger.ts'
import type { ListedRows } from './listed-rows.ts'
import { notConfirmed } from './messages.ts'
import type { OpenRun } from './open-run.ts'
import { readSource } from './read-source.ts'
import { isScopeKnown } from './scope.ts'
import type { InventorySource } from './source.ts'
import { loadTrustedData, type TrustedData } from './trusted-data.ts'

/*
 * How one inventory of one account comes into Postgres:
 *
 *     read and compare, block by block ──► decide ──► publish in one transaction
 *      │            ▲                       │
 *      │            └───────────────────────┴─ rows are absent: read and compare again; the second listing is published
 *      └─ refused: the run fails
 *
 * Nothing is removed unless two complete listings agree. Nothing at all is published if the lease was lost.
 */

type Open<Row> = {
  readonly context: InventoryContext
  readonly source: InventorySource<Row>
  readonly newRun: NewRun
  readonly run: OpenRun
  readonly signal: AbortSignal
  readonly listed: ListedRows
}

/** One reading of the inventory: what it found, and its changes, which nobody sees yet. */
type ReadListing<Row> = {
  readonly writer: ChangeWriter<Row>
  readonly dataHashes: readonly string[] | null
  readonly found: Found
  /** Why nothing follows from absent rows; null for a complete listing. */
  readonly incomplete: string | null
  readonly confirmed: boolean
}

/** What is published, and what becomes of absent rows. */
type Decision<Row> = {
  readonly listing: ReadListing<Row>
  readonly absent: readonly string[]
  readonly removals: Removals
  readonly note: Pick<RunEnd, 'dataHashes' | 'errorCode' | 'requestId'>
  /** Whether what the rows taught is true of what is published. */
  readonly isLearned: boolean
}

/** Reads what the platform lists, applies it, and returns how the run ended. A refusal fails the run. */
export async function syncSource<Row>(
  context: InventoryContext,
  source: InventorySource<Row>,
  newRun: NewRun,
  run: OpenRun,
  signal: AbortSignal,
): Promise<RunEnd> {
  const { knownRows } = context
  await using writers = new AsyncDisposableStack()
  const trusted = await loadTrustedData(context.pool, newRun)
  const listed = knownRows.take(newRun, source.scope, trusted.run) ?? source.createListedRows()
  const open: Open<Row> = { context, source, newRun, run, signal, listed }
  const keep = (last: AppliedRun) => knownRows.keep(newRun, source.scope, last, listed)

  const listing = await read(open, writers)
  if ('refusal' in listing) {
    listed.rollback()
    if (trusted.run) keep(trusted.run)
    return failRun(context, run, failureOf(listing.refusal))
  }
  if (isTrusted(trusted, listing.dataHashes)) {
    await listing.writer.discard()
    const end = await applyIdentical(listing.writer, trusted)
    listed.commit([], [])
    keep({ id: run.id, appliedAt: end.appliedAt })
    return end
  }
  const decision = await decide(open, listing, writers)
  if ('message' in decision) return failRun(context, run, decision)
  const { absent, removals, note } = decision
  const end = await applyChanges(context, source, run, decision.listing, absent, removals, note)
  if (decision.isLearned) {
    const removed = new Set(removedBy(removals))
    listed.commit(removals.kind === 'partial' ? null : absent.filter(id => !removed.has(id)), [...removed])
    keep({ id: run.id, appliedAt: end.appliedAt })
  }
  return end
}

function isTrusted({ hashes }: TrustedData, found: readonly string[] | null): boolean {
  return hashes.length === found?.length && hashes.every((hash, n) => hash === found[n])
}

/** What earlier runs and people said of the rows that are absent now. */
export async function loadEvidence(
  { pool }: Pick<InventoryContext, 'pool'>,
  run: Pick<NewRun, 'account' | 'resource' | 'scope'>,
  { absent }: Pick<Absence, 'absent'>,
): Promise<Evidence> {
  if (absent.length === 0) return NO_EVIDENCE
  return { isScopeKnown: await isScopeKnown(pool, run), rejected: await loadRejectedIds(pool, run) }
}

/** Decides about the rows that the listing lacks. Before any of them is removed or held, it reads once more. */
async function decide<Row>(
  open: Open<Row>,
  listing: ReadListing<Row>,
  writers: AsyncDisposableStack,
): Promise<Decision<Row> | Failure> {
  const { policy } = open.run
  const absence = await findAbsence(open)
  const { absent } = absence
  const evidence = await loadEvidence(open.context, open.newRun, absence)
  const removals = decideRemovals(listing.incomplete, absence, policy, evidence)
  if (listing.confirmed || !needsSecondListing(removals, absence)) {
    const errorCode = removals.kind === 'partial' ? 'ListingIncomplete' : null
    const note = { dataHashes: listing.dataHashes, errorCode, requestId: null }
    return { listing, absent, removals, note, isLearned: true }
  }

  const isHeld = await listing.writer.keepIfHeld()
  open.listed.rollback()
  const second = await read(open, writers)
  if (!('refusal' in second) && second.incomplete === null) {
    const now = await findAbsence(open)
    const before = new Set(absent)
    const stillAbsent = now.absent.filter(id => before.has(id))
    return {
      listing: second,
      absent: stillAbsent,
      removals: decideRemovals(null, { ...now, absent: stillAbsent }, policy, evidence),
      note: {
        // The next run looks again at what only the second listing lacks, so this data must not count as applied.
        dataHashes: stillAbsent.length === now.absent.length ? second.dataHashes : null,
        errorCode: null,
        requestId: null,
      },
      isLearned: true,
    }
  }
  const refusal = 'refusal' in second ? second.refusal : null
  const why = notConfirmed(absent.length, refusal?.message ?? null)
  const failure = { errorCode: refusal?.code ?? 'ListingIncomplete', requestId: refusal?.requestId ?? null }
  if (!isHeld) return { ...failure, message: `${why}; nothing was applied.` }
  return {
    listing,
    absent,
    removals: decideRemovals(why, absence, policy, evidence),
    note: { ...failure, dataHashes: null },
    isLearned: false,
  }
}

function findAbsence<Row>({ context, source, run, listed }: Open<Row>): Promise<Absence> {
  return findAbsent(context.pool, source, run.account, listed)
}

/** Reads and compares. The writer of the changes is added to `writers`, and so discarded in the end. */
async function read<Row>(
  { context, source, run, signal, listed }: Open<Row>,
  writers: AsyncDisposableStack,
): Promise<ReadListing<Row> | { readonly refusal: Refusal }> {
  const writer = openChangeWriter(context, source, run)
  writers.defer(() => writer.discard())
  const request = { runId: run.id, signal }
  const listing = await readSource(context.pool, source, run.account, listed, writer, request)
  run.requests += listing.requests
  run.pages += listing.pages
  return listing.kind === 'refused' ? listing : { ...listing, writer }
}

type Failure = {
  readonly errorCode: string
  readonly requestId: string | null
  readonly message: string
}

function failureOf({ code, requestId, message, whatToDo }: Refusal): Failure {
  return { errorCode: code, requestId, message: `${message} ${whatToDo}` }
}

async function failRun(
  { pool }: InventoryContext,
  { id, requests, pages }: OpenRun,
  failure: Failure,
): Promise<RunEnd> {
  const end: RunEnd = { ...NOTHING_DONE, status: 'failed', requests, pages, ...failure }
  await finishRun(pool, id, end)
  return end
}
