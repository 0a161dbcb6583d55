import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { drizzleOf, inArray, max, sql } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import { findColumn, type Queryable } from '#src/db/rows.ts'
import type { InventoryContext } from '#src/inventory/context.ts'
import { leaseNameOf } from '#src/inventory/runs/lost-runs.ts'
import { snapshots, syncRuns } from '#src/inventory/schema.ts'
import type { SnapshotStatus } from '#src/inventory/states.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import type { ActedBy } from '#src/model/act.ts'
import { RESOURCES } from '#src/model/resource.ts'
import type { RunResult, Trigger } from '#src/model/run.ts'
import { allEnded } from '#src/model/within.ts'

export type SnapshotResult = {
  readonly account: string
  /** Null if none was taken: a run failed or was skipped, or the slot has a snapshot already. */
  readonly snapshot: bigint | null
  readonly takenAt: Date | null
  /** The status of the worse run: how complete the snapshot is, or why none was taken. */
  readonly status: SnapshotStatus | 'failed' | 'skipped'
  readonly runs: readonly RunResult[]
}

/** From the best to the worst. */
const BY_GRAVITY = ['succeeded', 'partial', 'held', 'skipped', 'failed'] as const

/**
 * Syncs both inventories of an account, then names the instant. Waits while another run syncs one of them. If a run fails
 * or is skipped, no snapshot is taken: the stored data is older than the snapshot would claim.
 */
export async function takeSnapshot(
  context: InventoryContext,
  request: {
    readonly account: string
    readonly trigger: Trigger
    readonly slot?: Date
    readonly by?: ActedBy
  },
  signal: AbortSignal,
): Promise<SnapshotResult> {
  const runs = await allEnded(
    RESOURCES.map(resource => syncInventory(context, { ...request, resource, waitsForOther: true }, signal)),
  )
  const status = BY_GRAVITY.findLast(word => runs.some(run => run.status === word)) ?? 'failed'
  const none = { account: request.account, snapshot: null, takenAt: null, status, runs }
  const [alertRules, mcpServers] = runs
  if (status === 'failed' || status === 'skipped' || !alertRules || !mcpServers) return none
  const saved = await saveSnapshot(context.pool, {
    account: request.account,
    slot: request.slot ?? null,
    status,
    alertRulesRun: alertRules.run,
    mcpServersRun: mcpServers.run,
  })
  return saved ? { ...none, snapshot: saved.id, takenAt: saved.takenAt } : none
}

/** Returns when the latest snapshot of each account was taken. */
export function listLastSnapshots(client: Pool | PoolClient) {
  const { account, taken_at } = snapshots
  const takenAt = sql<Date>`max(${taken_at})`.mapWith(taken_at)
  return drizzleOf(client).select({ account, takenAt }).from(snapshots).groupBy(account).orderBy(account)
}

/** Returns those accounts that were read before their night, and of which no snapshot was taken from then on. */
export function listWithoutSnapshot(
  client: Queryable,
  nights: readonly { readonly account: string; readonly night: Date }[],
): Promise<string[]> {
  return findColumn(
    client,
    z.string(),
    `select a.account from unnest($1::text[], $2::timestamptz[]) a (account, night)
     where not exists (select from ferry.snapshots s where s.account = a.account and s.taken_at >= a.night)
       and (
         select r.started_at from ferry.sync_runs r where r.account = a.account and r.resource = 'alert-rules'
         order by r.id limit 1
       ) < a.night`,
    [nights.map(({ account }) => account), nights.map(({ night }) => night)],
  )
}

/**
 * Names this instant. Returns null if the slot has a snapshot already, which stays as it is.
 *
 * A run that is being published has chosen an earlier instant: this waits for its commit. So what a snapshot shows never
 * changes.
 */
export async function saveSnapshot(
  pool: Pool,
  {
    alertRulesRun,
    mcpServersRun,
    ...snapshot
  }: {
    account: string
    slot: Date | null
    status: SnapshotStatus
    alertRulesRun: bigint
    mcpServersRun: bigint
  },
): Promise<{ id: bigint; takenAt: Date } | null> {
  return inTransaction(pool, async client => {
    const names = RESOURCES.map(resource => leaseNameOf({ account: snapshot.account, resource }))
    await client.query('select from ferry.leases where name = any ($1) order by name for share', [names])
    // The instants of its runs may be ahead of a clock that was set back.
    const appliedAt = drizzleOf(client)
      .select({ latest: max(syncRuns.applied_at) })
      .from(syncRuns)
      .where(inArray(syncRuns.id, [alertRulesRun, mcpServersRun]))
    const [saved] = await drizzleOf(client)
      .insert(snapshots)
      .values({
        ...snapshot,
        taken_at: sql`greatest(clock_timestamp(), (${appliedAt}))`,
        alert_rules_run: alertRulesRun,
        mcp_servers_run: mcpServersRun,
      })
      .onConflictDoNothing({ target: [snapshots.account, snapshots.slot] })
      .returning({ id: snapshots.id, takenAt: snapshots.taken_at })
    return saved ?? null
  })
}
