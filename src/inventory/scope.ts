import type { SQL } from 'drizzle-orm'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { and, desc, drizzleOf, eq, gt, inArray, sql } from '#src/db/drizzle.ts'
import type { Inventory } from '#src/model/resource.ts'
import { COMPLETE_STATUSES } from '#src/model/run.ts'
import { type removalHolds, syncRuns } from './schema.ts'

/** The folder id that stands for every folder the key can view. */
export const EVERY_FOLDER = 0n

/** What a run can see. Absent rows mean something only compared with a run of the same scope. */
export const Scope = z.object({
  /** The folders asked for, as text; null where the resource has none. */
  folders: z.array(z.string()).readonly().nullable(),
  includeAccount: z.boolean().nullable(),
  keyHash: z.string(),
})
export type Scope = Readonly<z.infer<typeof Scope>>

/** Selects the rows of one inventory of one account. */
export function ofInventory(table: typeof syncRuns | typeof removalHolds, inventory: Inventory) {
  return and(eq(table.account, inventory.account), eq(table.resource, inventory.resource))
}

/** Selects the runs that had exactly this scope. */
export function hadScope(scope: Scope) {
  return eq(syncRuns.scope, scope)
}

/** Selects the runs that listed the same folders as `scope`. */
export function listedFoldersOf({ folders }: Scope) {
  return sql`${syncRuns.scope} -> 'folders' = ${JSON.stringify(folders)}::jsonb`
}

/** Whether a listing in this scope has rows of every folder, or of an inventory without folders. */
export function coversAll({ folders }: Scope): boolean {
  return folders === null || folders.includes(`${EVERY_FOLDER}`)
}

/** Selects the runs whose folders a listing in `scope` includes. */
export function isCoveredBy(scope: Scope) {
  const { folders } = scope
  return coversAll(scope)
    ? undefined
    : sql`${JSON.stringify(folders)}::jsonb @> (${syncRuns.scope} -> 'folders')`
}

/** In SQL, whether a listing of some folders has all the rows that one of others has; both are `folders` of a scope. */
export function coversFolders(some: string, others: string): string {
  return `((${some}) @> '["${EVERY_FOLDER}"]' or (${some}) @> (${others}))`
}

/** Whether a run had exactly this scope. */
export function isScopeOf(client: PoolClient, runId: bigint, scope: Scope): Promise<boolean> {
  return isAnyRun(client, and(eq(syncRuns.id, runId), hadScope(scope)))
}

/**
 * Whether a complete listing was applied in this scope, and none since then with another key or other servers: rows that only
 * such a listing has are absent from this one without being gone.
 */
export async function isScopeKnown(
  client: Pool | PoolClient,
  run: Inventory & { readonly scope: Scope },
): Promise<boolean> {
  const isComplete = and(ofInventory(syncRuns, run), inArray(syncRuns.status, COMPLETE_STATUSES))
  const [last] = await drizzleOf(client)
    .select({ id: syncRuns.id })
    .from(syncRuns)
    .where(and(isComplete, hadScope(run.scope)))
    .orderBy(desc(syncRuns.id))
    .limit(1)
  const { folders: _, ...sight } = run.scope
  const sawOthers = sql`${syncRuns.scope} - 'folders' <> ${JSON.stringify(sight)}::jsonb`
  return last !== undefined && !(await isAnyRun(client, and(isComplete, gt(syncRuns.id, last.id), sawOthers)))
}

async function isAnyRun(client: Pool | PoolClient, which: SQL | undefined): Promise<boolean> {
  const runs = await drizzleOf(client).select({ id: syncRuns.id }).from(syncRuns).where(which).limit(1)
  return runs.length === 1
}
