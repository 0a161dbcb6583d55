import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { and, drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { findColumn } from '#src/db/rows.ts'
import type { Inventory } from '#src/model/resource.ts'
import { APPLIED_STATUSES, COMPLETE_STATUSES } from '#src/model/run.ts'
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
export async function isScopeOf(client: PoolClient, runId: bigint, scope: Scope): Promise<boolean> {
  const runs = await drizzleOf(client)
    .select({ id: syncRuns.id })
    .from(syncRuns)
    .where(and(eq(syncRuns.id, runId), hadScope(scope)))
  return runs.length === 1
}

/**
 * Whether rows that a run of this scope does not list are gone: a complete listing was applied in it before, and no run since
 * then had another key or other servers, which may see rows that this one does not. Of the last twenty runs none may come
 * between two of this scope either: while workers have different keys, which of them polls next is left to chance.
 * `complete_runs.knows_absent` says the same of a run that was applied.
 */
export async function isScopeKnown(
  client: Pool | PoolClient,
  run: Inventory & { readonly scope: Scope },
): Promise<boolean> {
  const [known = false] = await findColumn(client, z.boolean(), IS_SCOPE_KNOWN, [
    run.account,
    run.resource,
    run.scope,
    COMPLETE_STATUSES,
    APPLIED_STATUSES,
  ])
  return known
}

const IS_SCOPE_KNOWN = `
  select not exists (
    select from ferry.sync_runs o
    where o.account = $1 and o.resource = $2 and o.status = any ($5) and o.scope - 'folders' <> $3::jsonb - 'folders'
      and o.id > least(l.id, (
        select min(e.id) from (
          select id, scope from ferry.sync_runs where account = $1 and resource = $2 and status = any ($5)
          order by id desc limit 20) e
        where e.scope = $3)))
  from (
    select id from ferry.sync_runs where account = $1 and resource = $2 and status = any ($4) and scope = $3
    order by id desc limit 1) l`
