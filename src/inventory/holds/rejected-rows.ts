import type { Pool, PoolClient } from 'pg'
import { and, drizzleOf, isNotNull, sql } from '#src/db/drizzle.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import { alertRuleVersions, removalHolds as holds } from '#src/inventory/schema.ts'
import { coversAll, ofInventory, type Scope } from '#src/inventory/scope.ts'
import type { Inventory } from '#src/model/resource.ts'
import { loadRejection } from './list-holds.ts'

/*
 * Rows whose removal a person rejected: they are kept for as long as they are absent.
 */

/** The ids whose removal a person rejected and that no complete listing has had since, each with the run that was named. */
export async function loadRejectedIds(
  client: Pool | PoolClient,
  inventory: Inventory,
): Promise<ReadonlyMap<string, string>> {
  const { account, resource, opened_by_run, last_run, ended_at } = holds
  const rejected = await drizzleOf(client)
    .select({
      ids: holds.rejected_ids,
      hold: { account, resource, openedByRun: opened_by_run, lastRun: last_run, endedAt: ended_at },
    })
    .from(holds)
    .where(and(ofInventory(holds, inventory), isNotNull(holds.rejected_ids)))
  const runs = new Map<string, string>()
  for (const { ids, hold } of rejected) {
    const run = (await loadRejection(client, hold))?.run ?? `${hold.lastRun}`
    for (const id of ids ?? []) runs.set(id, run)
  }
  return runs
}

/**
 * Narrows rejections to the rows that are still absent. Those that a listing in this scope could not have, since they are in other
 * folders, stay.
 */
export async function narrowRejection(
  client: PoolClient,
  run: RunStep,
  scope: Scope,
  absent: readonly string[],
): Promise<void> {
  const { account, id: rule, valid_to, folder_id } = alertRuleVersions
  const isElsewhere = coversAll(scope)
    ? sql`false`
    : sql`not exists (select from ${alertRuleVersions} where ${account} = ${run.account} and ${rule} = absent_id::numeric
        and ${valid_to} is null and ${folder_id} = any (${sql.param(scope.folders)}::numeric[]))`
  const kept = sql`select absent_id from unnest(${holds.rejected_ids}) as r (absent_id) where absent_id = any (${sql.param(absent)}) or ${isElsewhere}`
  await drizzleOf(client)
    .update(holds)
    .set({ rejected_ids: sql`nullif(array(${kept}), '{}')` })
    .where(and(ofInventory(holds, run), isNotNull(holds.rejected_ids)))
}
