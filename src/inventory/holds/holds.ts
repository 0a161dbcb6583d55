import type { SQL } from 'drizzle-orm'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { recordActs } from '#src/db/audit.ts'
import { alias, and, between, drizzleOf, eq, isNull, not, sql } from '#src/db/drizzle.ts'
import { raiseEvent, resolveEvent } from '#src/db/outbox.ts'
import { inTransaction } from '#src/db/pool.ts'
import { countOf, findColumn } from '#src/db/rows.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import { removalHolds as holds, syncRuns } from '#src/inventory/schema.ts'
import { coversFolders, isCoveredBy, listedFoldersOf, ofInventory, Scope } from '#src/inventory/scope.ts'
import type { HoldOutcome } from '#src/inventory/states.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { EventKey } from '#src/model/event.ts'
import type { Inventory } from '#src/model/resource.ts'

/** Removals that wait for a person. An inventory has at most one open hold. */
export type Hold = Inventory & {
  /** The scope of the held run: an approval reads the same. */
  readonly scope: Scope
  readonly ids: readonly string[]
  /** The last run that found its rows gone. */
  readonly lastRun: bigint
  /** Those of its rows that an earlier run, which was asked about, did not hold. */
  readonly added: readonly string[]
}

/** Selects the open hold of an inventory. */
const isOpenIn = (inventory: Inventory) => and(ofInventory(holds, inventory), isNull(holds.ended_at))

/** Selects a `HeldSince`. */
const HELD = { ids: holds.ids, sinceRuns: holds.since_runs, lastRun: holds.last_run }

/** Joins a run with the open hold that it made or updated. */
const IS_HOLD_OF_RUN = and(
  eq(holds.account, syncRuns.account),
  eq(holds.resource, syncRuns.resource),
  isNull(holds.ended_at),
  between(syncRuns.id, holds.opened_by_run, holds.last_run),
)

/**
 * Opens a hold on the removal of `ids`, or updates the open one. An open hold made for other folders ends: the next run
 * that lists those folders looks again at what it held.
 */
export async function holdRemovals(
  client: PoolClient,
  run: RunStep,
  scope: Scope,
  ids: readonly string[],
): Promise<void> {
  const { account, resource, runId } = run
  await closeHold(client, run, not(listedFoldersOf(scope)), { outcome: 'voided' })
  const [open] = await drizzleOf(client).select(HELD).from(holds).where(isOpenIn(run))
  const since = open ? sinceRunsOf(open) : new Map<string, bigint>()
  const found = { last_run: runId, ids: [...ids], since_runs: ids.map(id => since.get(id) ?? runId) }
  await drizzleOf(client)
    .insert(holds)
    .values({
      account,
      resource,
      opened_by_run: runId,
      // A worker of 0.2.0 lets go what falls below the guard, but for these.
      partly_approved: true,
      ...found,
    })
    .onConflictDoUpdate({
      target: [holds.account, holds.resource],
      targetWhere: sql`ended_at is null`,
      set: found,
    })
  await raiseEvent(client, heldIn(run), { inventory: resource, run: `${runId}`, rows: ids.length })
}

/**
 * Closes the open hold of an inventory if it satisfies the condition on itself and its last run. This alone ends a hold:
 *
 *     open ──► approved   a run removed its rows, since a person said so
 *          ├─► rejected   a person said that they are not gone
 *          └─► voided     a listing decided about them, or is to be asked again
 */
async function closeHold(
  client: PoolClient,
  inventory: Inventory,
  which: SQL | undefined,
  columns: { outcome: HoldOutcome; rejected_by?: string; rejected_ids?: SQL },
): Promise<void> {
  const ended = await drizzleOf(client)
    .update(holds)
    .set({ ended_at: sql`clock_timestamp()`, ...columns })
    .from(syncRuns)
    .where(and(isOpenIn(inventory), eq(syncRuns.id, holds.last_run), which))
  if (countOf(ended) > 0) await resolveEvent(client, heldIn(inventory))
}

/** The event about the open hold of an inventory. */
function heldIn({ account, resource }: Inventory): EventKey {
  return { kind: 'removals.held', account, subject: resource }
}

/**
 * Ends the open hold, if there is one and this scope covers its folders: a complete listing has decided about its rows.
 * The key may have changed since; a run whose new key sees too little to decide does not call this.
 */
export function endHold(
  client: PoolClient,
  run: RunStep,
  scope: Scope,
  outcome: Exclude<HoldOutcome, 'rejected'>,
): Promise<void> {
  return closeHold(client, run, isCoveredBy(scope), { outcome })
}

/**
 * Ends the open hold once its rows `approved` were removed. If others of it are still absent, another hold of these takes its
 * place. Returns how many stay held.
 */
export async function endApproved(
  client: PoolClient,
  run: RunStep,
  scope: Scope,
  held: LockedHold,
  { approved, absent }: { readonly approved: ReadonlySet<string>; readonly absent: readonly string[] },
): Promise<number> {
  const since = sinceRunsOf(held)
  const left = absent.filter(id => since.has(id) && !approved.has(id))
  await endPart(client, run, held, left, () => endHold(client, run, scope, 'approved'))
  return left.length
}

/** The open hold of an inventory, locked. */
export type LockedHold = HeldSince & { readonly id: bigint }

/** Ends a hold with `end`, about all rows but those that are `left`: another hold of these takes its place. */
async function endPart(
  client: PoolClient,
  inventory: Inventory,
  held: LockedHold,
  left: readonly string[],
  end: () => Promise<void>,
): Promise<void> {
  const since = sinceRunsOf(held)
  const rest = new Set(left)
  const settled = held.ids.filter(id => !rest.has(id))
  const columnsOf = (ids: readonly string[]) => [ids, ids.map(id => since.get(id) ?? held.lastRun)]
  if (left.length > 0) await client.query(KEEP, [held.id, ...columnsOf(settled)])
  await end()
  if (left.length === 0) return
  await client.query(HOLD_THE_REST, [held.id, ...columnsOf(left)])
  const about = { inventory: inventory.resource, run: `${held.lastRun}`, rows: left.length }
  await raiseEvent(client, heldIn(inventory), about)
}

const KEEP = 'update ferry.removal_holds set ids = $2::text[], since_runs = $3::bigint[] where id = $1'

const HOLD_THE_REST = `
  insert into ferry.removal_holds (account, resource, opened_by_run, last_run, opened_at, ids, since_runs, partly_approved)
  select account, resource, opened_by_run, last_run, opened_at, $2::text[], $3::bigint[], true
  from ferry.removal_holds where id = $1`

/** The ids that a run holds, while its hold is open: not those that only later runs hold. */
export async function loadHeldIds(pool: Pool, runId: bigint): Promise<readonly string[]> {
  const [hold] = await drizzleOf(pool)
    .select(HELD)
    .from(syncRuns)
    .innerJoin(holds, IS_HOLD_OF_RUN)
    .where(eq(syncRuns.id, runId))
  return hold ? heldBy(runId, hold) : []
}

/**
 * The ids whose removal waits for a person: also if a run of other folders ended their hold, until a complete listing of its folders
 * has decided about them.
 */
export async function loadWaitingIds(
  client: Pool | PoolClient,
  inventory: Inventory,
): Promise<ReadonlySet<string>> {
  const ids = await findColumn(client, z.string(), WAITING, [inventory.account, inventory.resource])
  return new Set(ids)
}

const WAITING = `
  select unnest(h.ids) as id from ferry.removal_holds h join ferry.sync_runs l on l.id = h.last_run
  where h.account = $1 and h.resource = $2 and (h.ended_at is null or h.outcome = 'voided' and not exists (
    select from ferry_internal.complete_runs r
    where r.account = $1 and r.inventory = $2 and r.id > h.last_run and r.finished_at > h.ended_at and r.knows_absent
      and ${coversFolders('r.folders', "l.scope -> 'folders'")}))`

/** The open hold that a held run made or updated, or null. */
export async function loadOpenHold(pool: Pool, runId: bigint): Promise<Hold | null> {
  const lastRun = alias(syncRuns, 'last_run')
  const [hold] = await drizzleOf(pool)
    .select({ account: holds.account, resource: holds.resource, scope: lastRun.scope, ...HELD })
    .from(syncRuns)
    .innerJoin(holds, IS_HOLD_OF_RUN)
    .innerJoin(lastRun, eq(lastRun.id, holds.last_run))
    .where(and(eq(syncRuns.id, runId), eq(syncRuns.status, 'held')))
  if (!hold) return null
  const { sinceRuns, ...rest } = hold
  return { ...rest, scope: Scope.parse(hold.scope), added: addedAfter(runId, hold) }
}

/** What was approved is not held any more: a person rejected it while the inventory was read. */
export class HoldEnded extends Error {
  override readonly name = 'HoldEnded'
}

/**
 * Keeps everybody else from ending the hold of run `runId` until the transaction ends. Throws `HoldEnded` if it has ended, or
 * does not have all the rows `approved` any more.
 */
export async function fenceWithHold(
  client: PoolClient,
  runId: bigint,
  approved: ReadonlySet<string>,
): Promise<LockedHold> {
  const hold = await lockHoldOf(client, runId)
  if (!hold || !approved.isSubsetOf(new Set(heldBy(runId, hold)))) {
    throw new HoldEnded(`the hold of run ${runId} has ended`)
  }
  return hold
}

/** Locks the open hold that a held run made or updated; undefined if it has ended. */
async function lockHoldOf(client: PoolClient, runId: bigint) {
  const { id, account, resource } = holds
  const [hold] = await drizzleOf(client)
    .select({ id, account, resource, ...HELD })
    .from(syncRuns)
    .innerJoin(holds, IS_HOLD_OF_RUN)
    .where(and(eq(syncRuns.id, runId), eq(syncRuns.status, 'held')))
    .for('update')
  return hold
}

/** Keeps everybody else from deciding about the open hold of an inventory until the transaction ends. */
export async function lockOpenHold(client: PoolClient, inventory: Inventory): Promise<void> {
  const open = () => drizzleOf(client).select({ id: holds.id }).from(holds).where(isOpenIn(inventory))
  // A rejection that ended it meanwhile may have put another in its place.
  while ((await open()).length > 0 && (await open().for('update')).length === 0);
}

/**
 * Ends what the open hold has of a held run: these rows are not gone, and are kept for as long as they stay absent. Rows that only
 * later runs hold stay held. Returns how many rows are kept; null if the hold has ended, or has none of that run.
 */
export function rejectHold(pool: Pool, runId: bigint, by: ActedBy): Promise<number | null> {
  return inTransaction(pool, async client => {
    const hold = await lockHoldOf(client, runId)
    if (!hold) return null
    const added = addedAfter(runId, hold)
    const rows = hold.ids.length - added.length
    if (rows === 0) return null
    const rejected = { outcome: 'rejected', rejected_by: by.actor, rejected_ids: sql`${holds.ids}` } as const
    await endPart(client, hold, hold, added, () => closeHold(client, hold, eq(holds.id, hold.id), rejected))
    const of = { account: hold.account, subjectKind: 'run', subject: `${runId}` } as const
    await recordActs(client, by, [{ ...of, action: 'reject', decided: { rows, of: hold.ids.length } }])
    return rows
  })
}

/** The rows of a hold, each with the run since which it has been held without a break. */
export type HeldSince = {
  readonly ids: readonly string[]
  /** In the order of the ids. */
  readonly sinceRuns: readonly bigint[]
  /** The last run that found the rows gone. */
  readonly lastRun: bigint
}

/** The run since which each row has been held. */
export function sinceRunsOf({ ids, sinceRuns, lastRun }: HeldSince): ReadonlyMap<string, bigint> {
  return new Map(ids.map((id, index) => [id, sinceRuns[index] ?? lastRun]))
}

/** The rows that are held now, and that run `runId` did not hold. */
export function addedAfter(runId: bigint, held: HeldSince): readonly string[] {
  return [...sinceRunsOf(held)].filter(([, since]) => since > runId).map(([id]) => id)
}

/** The rows that run `runId` held, of those that are held now. */
function heldBy(runId: bigint, held: HeldSince): readonly string[] {
  return [...sinceRunsOf(held)].filter(([, since]) => since <= runId).map(([id]) => id)
}
