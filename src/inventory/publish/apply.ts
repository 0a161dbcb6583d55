import type { PoolClient } from 'pg'
import { recordActs } from '#src/db/audit.ts'
import type { InventoryContext } from '#src/inventory/context.ts'
import { tellOfRules } from '#src/inventory/history/rule-events.ts'
import { tellOfChangedTools } from '#src/inventory/history/tool-changes.ts'
import {
  endApproved,
  endHold,
  fenceWithHold,
  holdRemovals,
  type LockedHold,
} from '#src/inventory/holds/holds.ts'
import { narrowRejection } from '#src/inventory/holds/rejected-rows.ts'
import { leftHeld, messageOn, notStored } from '#src/inventory/messages.ts'
import { reportSharedAccounts } from '#src/inventory/platform-accounts.ts'
import { reportDrift } from '#src/inventory/read/drift.ts'
import { saveQuarantined } from '#src/inventory/read/quarantine.ts'
import type { Found } from '#src/inventory/read/reading.ts'
import type { TrustedData } from '#src/inventory/read/trusted-data.ts'
import { NOTHING_DONE, type OpenRun, type RunEnd, type RunStep } from '#src/inventory/runs/ledger.ts'
import type { Scope } from '#src/inventory/scope.ts'
import type { InventorySource } from '#src/inventory/source.ts'
import { noteDatabaseChange } from './after-change.ts'
import type { Applied, ChangeWriter } from './change-writer.ts'
import { type Absence, decideRemovals, type RemovalPolicy, type Removals } from './decide.ts'
import { loadFinalEvidence } from './evidence.ts'
import { applyFirings } from './firings.ts'
import { closeVersions } from './versions.ts'

const STATUS = { remove: 'succeeded', keep: 'succeeded', hold: 'held', partial: 'partial' } as const

/** What was read. */
type Outcome<Row> = {
  readonly writer: ChangeWriter<Row>
  readonly found: Found
  readonly absence: Absence
  /** Why nothing follows from what is absent; null if it does. */
  readonly incomplete: string | null
}

/**
 * Publishes a run in one transaction: the changes that were passed to `writer`, removals, quarantined rows, and the run's
 * end in the ledger. Readers see all of it or nothing. It decides about absent rows there too: by what people have said until then.
 *
 * Throws `LeaseLost` if another worker may have the lease by now; then nothing was written.
 */
export function applyChanges<Row>(
  context: InventoryContext,
  source: InventorySource<Row>,
  run: OpenRun,
  { writer, found, absence, incomplete }: Outcome<Row>,
  note: Pick<RunEnd, 'dataHashes' | 'errorCode' | 'requestId'>,
): Promise<Applied> {
  const { absent } = absence
  return writer.publish(async (client, step, opened) => {
    const isApproval = incomplete === null && run.policy.kind === 'approved'
    const held = isApproval ? await fenceWithHold(client, run.policy.heldBy, run.policy.ids) : null
    const evidence = await loadFinalEvidence(client, { ...step, scope: source.scope }, absence, held)
    const removals = decideRemovals(incomplete, absence, run.policy, evidence)
    const removed = removedBy(removals)
    await closeVersions(client, source.table, step, removed)
    if (source.isFiring) await applyFirings(client, step, [], removed)
    const { quarantined } = found
    const stored = await saveQuarantined(client, { ...step, scope: source.scope }, quarantined)
    await reportDrift(context.log, client, step, { drift: found.drift, values: opened.values() })
    await reportSharedAccounts(context, client, step, found.accountIds)

    const left = await settleHold(client, step, source.scope, run.policy, { removals, absent, held })

    const { seen, added, changed, fired } = found
    const { firstRead } = opened
    const opening = added - firstRead + changed
    if (source.resource === 'mcp-servers' && opening > 0) await tellOfChangedTools(client, step)
    if (source.resource === 'alert-rules' && opening + removed.length > 0) await tellOfRules(client, step)
    const afterChange = await noteDatabaseChange(client, step)
    const sentences = [
      messageOn(removals, run.id),
      left > 0 && held ? leftHeld(left, held.lastRun) : null,
      notStored(quarantined.size, stored),
      afterChange,
    ]
    // While absent rows are kept, identical data is no reason to skip the comparison. And a run that skips it says what this one
    // says, which must not be what is true of this one alone.
    const isRepeatable =
      removals.kind === 'remove' && removed.length === absent.length && afterChange === null
    const end = {
      ...note,
      dataHashes: isRepeatable ? note.dataHashes : null,
      status: STATUS[removals.kind],
      message: sentences.filter(sentence => sentence !== null).join(' ') || null,
      seen,
      added,
      changed,
      removed: removed.length,
      unchanged: seen - quarantined.size - added - changed,
      quarantined: quarantined.size,
      fired,
      recovered: found.recovered,
      firstRead,
    }
    return { end, removals }
  })
}

/**
 * Does to the hold of the inventory what was decided about the absent rows: opens or updates it, ends it, or keeps of it what
 * an approval was not about. Returns how many rows such an approval leaves held.
 */
async function settleHold(
  client: PoolClient,
  step: RunStep,
  scope: Scope,
  policy: RemovalPolicy,
  {
    removals,
    absent,
    held,
  }: {
    readonly removals: Removals
    readonly absent: readonly string[]
    readonly held: LockedHold | null
  },
): Promise<number> {
  let left = 0
  if (removals.kind === 'hold') await holdRemovals(client, step, scope, removals.ids)
  if (policy.kind === 'approved' && removals.kind === 'remove' && held) {
    const { by, heldBy, ids: approved } = policy
    left = await endApproved(client, step, scope, held, { approved, absent })
    const of = { account: step.account, subjectKind: 'run', subject: `${heldBy}` } as const
    const decided = { rows: approved.size, of: held.ids.length }
    await recordActs(client, by, [{ ...of, action: 'approve', decided }])
  } else if (removals.kind === 'remove' || (removals.kind === 'keep' && removals.because === 'rejected')) {
    await endHold(client, step, scope, policy.kind === 'guarded' ? 'voided' : 'approved')
  }
  if (removals.kind !== 'partial') {
    const gone = new Set(removedBy(removals))
    const kept = absent.filter(id => !gone.has(id))
    await narrowRejection(client, step, scope, kept)
  }
  return left
}

/** The ids of the rows that are removed. */
export function removedBy(removals: Removals): readonly string[] {
  return removals.kind === 'remove' ? removals.ids : []
}

/** Ends a run whose data is what the last run applied: the same rows are quarantined, and none changed. */
export function applyIdentical<Row>(
  writer: ChangeWriter<Row>,
  { seen, quarantined, message, hashes }: TrustedData,
): Promise<Applied> {
  const end = {
    ...NOTHING_DONE,
    status: 'succeeded',
    message,
    seen,
    unchanged: seen - quarantined,
    quarantined,
    dataHashes: hashes,
  } as const
  return writer.publish(async () => ({ end, removals: { kind: 'remove', ids: [] } }))
}
