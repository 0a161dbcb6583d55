import type { InventoryContext } from '#src/inventory/context.ts'
import { KEY_CHANGED, notConfirmed } from '#src/inventory/messages.ts'
import { findAbsent } from '#src/inventory/publish/absence.ts'
import { applyChanges, applyIdentical, removedBy } from '#src/inventory/publish/apply.ts'
import { ChangeWriter } from '#src/inventory/publish/change-writer.ts'
import { type Absence, decideRemovals, needsSecondListing } from '#src/inventory/publish/decide.ts'
import { loadEvidence } from '#src/inventory/publish/evidence.ts'
import type { AppliedRun } from '#src/inventory/read/known-rows.ts'
import type { ListedRows } from '#src/inventory/read/listed-rows.ts'
import { type Found, type Reading, readSource } from '#src/inventory/read/reading.ts'
import { loadTrustedData, type TrustedData } from '#src/inventory/read/trusted-data.ts'
import type { InventorySource } from '#src/inventory/source.ts'
import { failRun, type NewRun, type OpenRun, type RunEnd } from './ledger.ts'

/*
 * How one inventory of one account comes into Postgres:
 *
 *     read and compare, block by block ──► confirm ──► decide and publish, in one transaction
 *      │                                     │
 *      └─ refused: the run fails             └─ rows are absent: list again; those absent from both are removed or held
 *
 * What is new or changed is published as the first listing has it, whatever becomes of the second. Nothing is removed
 * unless two complete listings agree. Nothing at all is published if the lease was lost.
 */

type Open<Row> = {
  readonly context: InventoryContext
  readonly source: InventorySource<Row>
  readonly newRun: NewRun
  readonly run: OpenRun
  readonly signal: AbortSignal
  readonly listed: ListedRows
}

/** What the listings say of absent rows, and how the run ends because of it. */
type Confirmed = {
  readonly absence: Absence
  /** Why nothing follows from it; null if it does. */
  readonly incomplete: string | null
  readonly note: Pick<RunEnd, 'dataHashes' | 'errorCode' | 'requestId'>
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
  const writer = new ChangeWriter(context, source, run, signal)
  await using _ = { [Symbol.asyncDispose]: () => writer.discard() }
  const trusted = await loadTrustedData(context.pool, newRun)
  const listed = knownRows.take(newRun, source.scope, trusted.run) ?? source.createListedRows()
  const open: Open<Row> = { context, source, newRun, run, signal, listed }
  const keep = (last: AppliedRun) => knownRows.keep(newRun, source.scope, last, listed)

  const listing = await read(open, writer)
  if (listing.kind === 'refused') {
    listed.rollback()
    if (trusted.run) keep(trusted.run)
    const { code: errorCode, requestId, message, whatToDo } = listing.refusal
    const { end } = await failRun(context.pool, run, {
      errorCode,
      requestId,
      message: `${message} ${whatToDo}`,
    })
    return end
  }
  if (isTrusted(trusted, listing.dataHashes)) {
    await writer.discard()
    const { end } = await applyIdentical(writer, trusted)
    listed.commit([], [])
    keep({ id: run.id, appliedAt: end.appliedAt })
    return end
  }
  const { note, ...confirmed } = await confirm(open, listing)
  const outcome = { writer, found: listing, ...confirmed }
  const { end, removals } = await applyChanges(context, source, run, outcome, note)
  const removed = new Set(removedBy(removals))
  const { absent } = confirmed.absence
  listed.commit(removals.kind === 'partial' ? null : absent.filter(id => !removed.has(id)), [...removed])
  keep({ id: run.id, appliedAt: end.appliedAt })
  return end
}

function isTrusted({ hashes }: TrustedData, found: readonly string[] | null): boolean {
  return hashes.length === found?.length && hashes.every((hash, n) => hash === found[n])
}

/** If rows that the listing lacks may have to be removed or held, lists once more before. */
async function confirm<Row>(open: Open<Row>, listing: Found): Promise<Confirmed> {
  const { context, run, source } = open
  const absence = await findAbsence(open)
  const { absent } = absence
  const evidence = await loadEvidence(context.pool, { ...open.newRun, scope: source.scope }, absence)
  const { incomplete } = listing
  const removals = decideRemovals(incomplete, absence, run.policy, evidence)
  if (listing.confirmed || !needsSecondListing(removals, absence)) {
    const errorCode = incomplete === null ? null : 'ListingIncomplete'
    return { absence, incomplete, note: { dataHashes: listing.dataHashes, errorCode, requestId: null } }
  }

  const second = await read(open, null)
  if (second.kind === 'read' && second.incomplete === null) {
    const now = await findAbsence(open)
    const before = new Set(absent)
    const stillAbsent = now.absent.filter(id => before.has(id))
    return {
      absence: { ...now, absent: stillAbsent },
      incomplete: null,
      note: {
        // The next run looks again at what only the first listing lacks, so this data must not count as applied.
        dataHashes: stillAbsent.length === absent.length ? listing.dataHashes : null,
        errorCode: null,
        requestId: null,
      },
    }
  }
  const refusal = second.kind === 'refused' ? second.refusal : null
  return {
    absence,
    incomplete: notConfirmed(absent.length, refusal?.message ?? null),
    note: {
      dataHashes: null,
      errorCode: refusal?.code ?? 'ListingIncomplete',
      requestId: refusal?.requestId ?? null,
    },
  }
}

function findAbsence<Row>({ context, source, run, listed }: Open<Row>): Promise<Absence> {
  return findAbsent(context.pool, source, run.account, listed)
}

/**
 * Reads the source, and adds its calls to those of the run. Each call takes the key as it is then: if that was replaced since the
 * run's scope was noted, nothing follows from what a listing lacks.
 */
async function read<Row>(
  { context, source, run, signal, listed }: Open<Row>,
  changes: ChangeWriter<Row> | null,
): Promise<Reading> {
  const request = { changes, runId: run.id, signal }
  const reading = await readSource(context.pool, source, run.account, listed, request)
  run.requests += reading.requests
  run.pages += reading.pages
  const { keyHash } = context.accounts.get(run.account) ?? source.scope
  if (reading.kind === 'refused' || keyHash === source.scope.keyHash) return reading
  return { ...reading, incomplete: reading.incomplete ?? KEY_CHANGED }
}
