import type { PoolClient } from 'pg'
import { fenceWithLease, type Lease, LeaseLost } from '#src/db/leases.ts'
import { inTransaction } from '#src/db/pool.ts'
import type { Inventory } from '#src/model/resource.ts'
import { chooseInstant } from './choose-instant.ts'
import { type Comparison, rowAt } from './compare.ts'
import type { InventoryContext } from './context.ts'
import type { RemovalPolicy, Removals } from './decide.ts'
import { reportDrift } from './drift.ts'
import { applyFirings } from './firings.ts'
import { endHold, holdRemovals, narrowRejection } from './holds.ts'
import { finishRun, NOTHING_DONE, type RunEnd, type RunStep } from './ledger.ts'
import { messageOn, notStored } from './messages.ts'
import { reportSharedAccounts } from './platform-accounts.ts'
import { saveQuarantined } from './quarantine.ts'
import type { InventorySource } from './source.ts'
import type { TrustedData } from './trusted-data.ts'
import { closeVersions, type NewVersion, openVersions } from './versions.ts'

/** A run under way: what it is about, and what it has asked of the platform so far. */
export type OpenRun = {
  readonly id: bigint
  readonly account: string
  readonly lease: Lease
  readonly policy: RemovalPolicy
  requests: number
  pages: number
}

const STATUS = { remove: 'succeeded', keep: 'succeeded', hold: 'held', partial: 'partial' } as const

/**
 * Publishes a run in one transaction: closes and opens versions, begins and ends firings, stores quarantined rows, and
 * ends the run in the ledger. Readers see all of it or nothing.
 *
 * Throws `LeaseLost` if another worker may have the lease by now; then nothing was written.
 */
export function applyChanges<Row>(
  context: InventoryContext,
  source: InventorySource<Row>,
  run: OpenRun,
  comparison: Comparison<Row>,
  removals: Removals,
  note: Pick<RunEnd, 'dataHashes' | 'errorCode' | 'requestId'>,
): Promise<RunEnd> {
  return inFencedTransaction(context, source, run, async (client, step) => {
    const removed = removals.kind === 'remove' ? removals.ids : []
    const { listing } = comparison

    const changed = comparison.changed.map(n => source.table.idOf(rowAt(listing.rows, n)))
    await closeVersions(client, source.table, step, [...changed, ...removed])
    await openVersions(client, source.table, step, newVersions(source, comparison))
    const ended = source.isFiring ? [...comparison.ended, ...removed] : []
    await applyFirings(client, step, comparison.began, ended)

    const stored = await saveQuarantined(client, { ...step, scope: source.scope }, listing.quarantined)
    await reportDrift(context.log, client, step, listing.drift)
    await reportSharedAccounts(context, client, step, listing.rows)

    if (removals.kind === 'hold') await holdRemovals(client, step, source.scope, removals.ids)
    if (removals.kind === 'remove') {
      await endHold(client, step, source.scope, run.policy.kind === 'guarded' ? 'voided' : 'approved')
    }
    if (removals.kind !== 'partial') {
      const stillAbsent = removals.kind === 'remove' ? [] : comparison.absent
      await narrowRejection(client, step, source.scope, stillAbsent)
    }

    const sentences = [messageOn(removals, run.id), notStored(listing.quarantined.length, stored)]
    return {
      ...note,
      // While absent rows are kept, identical data is no reason to skip the comparison.
      dataHashes: removals.kind === 'remove' ? note.dataHashes : null,
      status: STATUS[removals.kind],
      message: sentences.filter(sentence => sentence !== null).join(' ') || null,
      seen: listing.rows.length + listing.quarantined.length,
      added: comparison.added.length,
      changed: comparison.changed.length,
      removed: removed.length,
      unchanged: listing.rows.length - comparison.added.length - comparison.changed.length,
      quarantined: listing.quarantined.length,
      fired: comparison.began.length,
      recovered: comparison.ended.length,
    }
  })
}

/** Ends a run whose data is byte for byte what the last run applied: the same rows are quarantined, and none changed. */
export function applyIdentical<Row>(
  context: InventoryContext,
  source: InventorySource<Row>,
  run: OpenRun,
  { seen, quarantined, message, hashes }: TrustedData,
): Promise<RunEnd> {
  return inFencedTransaction(context, source, run, async () => ({
    ...NOTHING_DONE,
    status: 'succeeded',
    message,
    seen,
    unchanged: seen - quarantined,
    quarantined,
    dataHashes: hashes,
  }))
}

/**
 * Runs `work` in one transaction that the lease protects, with the instant at which the changes take effect, and ends
 * the run in the ledger.
 */
function inFencedTransaction<Row>(
  { pool, limitWork }: InventoryContext,
  source: InventorySource<Row>,
  run: OpenRun,
  work: (client: PoolClient, step: RunStep) => Promise<Omit<RunEnd, 'appliedAt' | 'requests' | 'pages'>>,
): Promise<RunEnd> {
  const inventory: Inventory = { account: run.account, resource: source.resource }
  const apply = async (client: PoolClient) => {
    await fenceWithLease(client, run.lease)
    const at = await chooseInstant(client, inventory)
    const applied = await work(client, { ...inventory, runId: run.id, at })
    const end = { ...applied, appliedAt: at, requests: run.requests, pages: run.pages }
    if (!(await finishRun(client, run.id, end))) throw new LeaseLost(`run ${run.id} was taken for lost`)
    return end
  }
  return limitWork(() => inTransaction(pool, apply))
}

function* newVersions<Row>(
  source: InventorySource<Row>,
  comparison: Comparison<Row>,
): Generator<NewVersion<Row>> {
  const { listing } = comparison
  for (const indexes of [comparison.added, comparison.changed]) {
    for (const n of indexes) {
      const row = rowAt(listing.rows, n)
      yield {
        row,
        fingerprint: comparison.fingerprintOf(n),
        flags: source.flagsOf(row),
        altered: listing.altered.get(n),
      }
    }
  }
}
