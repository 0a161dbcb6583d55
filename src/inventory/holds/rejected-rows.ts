import type { Pool, PoolClient } from 'pg'
import { and, drizzleOf, eq, isNotNull, sql } from '#src/db/drizzle.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import { removalHolds as holds, syncRuns } from '#src/inventory/schema.ts'
import { isCoveredBy, ofInventory, type Scope } from '#src/inventory/scope.ts'
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

/** Narrows a rejection to the rows that are still absent, if this scope covers its folders. */
export async function narrowRejection(
  client: PoolClient,
  run: RunStep,
  scope: Scope,
  absent: readonly string[],
): Promise<void> {
  const stillAbsent = sql`select id from unnest(${holds.rejected_ids}) id where id = any (${sql.param(absent)})`
  await drizzleOf(client)
    .update(holds)
    .set({ rejected_ids: sql`nullif(array(${stillAbsent}), '{}')` })
    .from(syncRuns)
    .where(
      and(
        ofInventory(holds, run),
        isNotNull(holds.rejected_ids),
        eq(syncRuns.id, holds.last_run),
        isCoveredBy(scope),
      ),
    )
}
