import type { PoolClient } from 'pg'
import type { RunStatus } from '#src/model/run.ts'
import { inTransaction } from '#src/store/database.ts'
import { saveDrift, savePlatformAccounts, saveQuarantined } from '#src/store/findings.ts'
import { applyFirings } from '#src/store/firings.ts'
import { endHold, holdRemovals, narrowRejection } from '#src/store/holds.ts'
import { fenceWithLease, type Lease, LeaseLost } from '#src/store/leases.ts'
import { chooseInstant, finishRun, type RunEnd, type TrustedData } from '#src/store/runs.ts'
import { closeVersions, type NewVersion, openVersions } from '#src/store/versions.ts'
import type { InventoryContext } from './context.ts'
import { type Plan, rowAt } from './plan.ts'
import type { RemovalPolicy, Removals } from './removals.ts'
import type { Source } from './source.ts'

/** A run under way: who it is and what it has asked of the platform so far. */
export type OpenRun = {
  readonly id: bigint
  readonly account: string
  readonly lease: Lease
  readonly policy: RemovalPolicy
  requests: number
  pages: number
}

/**
 * Publishes a run in one transaction: closes and opens versions, begins and ends firings, keeps what was set aside,
 * and closes the ledger row. Readers see all of it or nothing.
 *
 * Throws `LeaseLost` if somebody else may be at work by now; then nothing was written.
 */
export function applyPlan<Row>(
  context: InventoryContext,
  source: Source<Row>,
  run: OpenRun,
  plan: Plan<Row>,
  removals: Removals,
  note: Pick<RunEnd, 'dataHashes' | 'errorCode' | 'requestId'>,
): Promise<RunEnd> {
  return fenced(context, source, run, async (client, at) => {
    const step = { account: run.account, runId: run.id, at, resource: source.resource }
    const removed = removals.kind === 'remove' ? removals.ids : []
    const { listing } = plan

    const changed = plan.changed.map(n => source.table.idOf(rowAt(listing.rows, n)))
    await closeVersions(client, source.table, step, [...changed, ...removed])
    await openVersions(client, source.table, step, newVersions(source, plan))
    const ended = source.isFiring ? [...plan.ended, ...removed] : []
    await applyFirings(client, step, plan.began, ended)

    const stored = await saveQuarantined(client, { ...step, scope: source.scope }, listing.quarantined)
    for (const found of await saveDrift(client, step, listing.drift)) {
      context.log.warn(
        { ...step, ...found },
        'the platform sends a field outside the contract; it is not stored',
      )
    }
    await reportSharedAccounts(context, client, step, listing.rows)
    if (removals.kind === 'hold') await holdRemovals(client, step, source.scope, removals.ids)
    if (removals.kind === 'remove') {
      await endHold(client, step, source.scope, run.policy.kind === 'guarded' ? 'voided' : 'approved')
    }

    if (!(removals.kind === 'keep' && removals.partial)) {
      await narrowRejection(client, step, source.scope, removals.kind === 'remove' ? [] : plan.absent)
    }

    return {
      ...note,
      // While absent rows are kept, the same data is no reason to stop looking at them.
      dataHashes: removals.kind === 'remove' ? note.dataHashes : null,
      status: statusOf(removals),
      message: sentences(messageOf(removals, run.id), unstoredIn(listing.quarantined.length, stored)),
      seen: listing.rows.length + listing.quarantined.length,
      added: plan.added.length,
      changed: plan.changed.length,
      removed: removed.length,
      unchanged: listing.rows.length - plan.added.length - plan.changed.length,
      quarantined: listing.quarantined.length,
      fired: plan.began.length,
      recovered: plan.ended.length,
    }
  })
}

/** Closes a run whose data is, byte for byte, what the last run applied: it set the same rows aside, and changed none. */
export function applyIdentical<Row>(
  context: InventoryContext,
  source: Source<Row>,
  run: OpenRun,
  trusted: TrustedData,
): Promise<RunEnd> {
  return fenced(context, source, run, async () => ({
    status: 'succeeded',
    message: trusted.message,
    seen: trusted.seen,
    added: 0,
    changed: 0,
    removed: 0,
    unchanged: trusted.seen - trusted.quarantined,
    quarantined: trusted.quarantined,
    fired: 0,
    recovered: 0,
    dataHashes: trusted.hashes,
    errorCode: null,
    requestId: null,
  }))
}

/** One transaction under the lease's token, with the instant it takes effect, that ends by closing the ledger row. */
function fenced<Row>(
  { pool, limitWork }: InventoryContext,
  source: Source<Row>,
  run: OpenRun,
  work: (client: PoolClient, at: string) => Promise<Omit<RunEnd, 'appliedAt' | 'requests' | 'pages'>>,
): Promise<RunEnd> {
  const apply = async (client: PoolClient) => {
    await fenceWithLease(client, run.lease)
    const at = await chooseInstant(client, run.account, source.resource)
    const end = { ...(await work(client, at)), appliedAt: at, requests: run.requests, pages: run.pages }
    if (!(await finishRun(client, run.id, end))) throw new LeaseLost(`run ${run.id} was taken for lost`)
    return end
  }
  return limitWork(() => inTransaction(pool, apply))
}

function* newVersions<Row>(source: Source<Row>, plan: Plan<Row>): Generator<NewVersion<Row>> {
  for (const indexes of [plan.added, plan.changed]) {
    for (const n of indexes) {
      const row = rowAt(plan.listing.rows, n)
      yield {
        row,
        fingerprint: plan.fingerprintOf(n),
        flags: source.flagsOf(row),
        altered: plan.listing.altered.get(n),
      }
    }
  }
}

function statusOf(removals: Removals): Exclude<RunStatus, 'running' | 'skipped'> {
  if (removals.kind === 'hold') return 'held'
  return removals.kind === 'keep' && removals.partial ? 'partial' : 'succeeded'
}

function messageOf(removals: Removals, runId: bigint): string | null {
  if (removals.kind === 'remove') return null
  if (removals.kind === 'keep') return `${removals.why}.`
  return `${removals.why}; nothing was removed. See \`ferry runs show ${runId}\`, then \`ferry runs approve ${runId}\` or \`ferry runs reject ${runId}\`.`
}

function unstoredIn(quarantined: number, stored: number): string | null {
  return stored < quarantined ? `Of ${quarantined} rows that could not be read, ${stored} are stored.` : null
}

function sentences(...texts: readonly (string | null)[]): string | null {
  return texts.filter(text => text !== null).join(' ') || null
}

/**
 * Warns once when two accounts of Ferry turn out to be one account of the platform, which counts their calls together,
 * and Ferry does not.
 */
async function reportSharedAccounts(
  context: InventoryContext,
  client: PoolClient,
  step: { account: string; runId: bigint },
  rows: readonly unknown[],
): Promise<void> {
  const accountIds = new Set<bigint>()
  for (const row of rows as readonly { account_id: bigint | null }[]) {
    if (row.account_id !== null) accountIds.add(row.account_id)
  }
  const groupOf = (name: string) => context.accounts.get(name)?.limitGroup
  const sharing = await savePlatformAccounts(client, step, [...accountIds])
  // An account that is not configured any more makes no calls.
  const others = sharing.filter(name => context.accounts.has(name) && groupOf(name) !== groupOf(step.account))
  if (others.length > 0) {
    context.log.warn(
      { account: step.account, others },
      'these accounts see the same account of the platform, which limits them together: give them one limitGroup',
    )
  }
}
