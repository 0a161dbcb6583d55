import { z } from 'zod'
import { findAll, findValue, type Queryable } from '#src/db/rows.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import { EVERY_FOLDER, type Scope } from '#src/inventory/scope.ts'
import type { Appearance } from '#src/inventory/states.ts'
import type { VersionedTable } from '#src/inventory/versioned-tables.ts'

/*
 * A row that had no current version was not always added by a person just then. Whether it was is decided here, once, when
 * its version is opened, and stored with it (`appeared`): what old runs would say may be pruned later.
 */

/** When the folders of an inventory were last listed completely before a run, by the same key. */
export type ListedBefore = {
  /** The instants in milliseconds, by the folder asked for. Everything has the key of `EVERY_FOLDER`. */
  readonly lastAtMs: ReadonlyMap<string, number>
  readonly nowMs: number
}

/** How far the platform's clock may be from the database's. */
const CLOCK_DIFFERENCE_MS = 5 * 60_000

/** Returns how a row without a current version appeared; null if it was added since its folder was last listed. */
export function appearanceOf<Row>(
  table: Pick<VersionedTable<Row>, 'folderOf' | 'createdAtOf'>,
  row: Row,
  { lastAtMs, nowMs }: ListedBefore,
): Appearance | null {
  if (lastAtMs.size === 0) return 'first reading'
  const folder = table.folderOf(row)
  const listed = [lastAtMs.get(`${EVERY_FOLDER}`), folder === null ? undefined : lastAtMs.get(folder)]
  const sinceMs = Math.max(...listed.map(atMs => atMs ?? Number.NEGATIVE_INFINITY))
  if (sinceMs === Number.NEGATIVE_INFINITY) return 'first reading'
  const createdAtMs = plausibleMs(table.createdAtOf(row))
  const isNew = createdAtMs >= sinceMs - CLOCK_DIFFERENCE_MS && createdAtMs <= nowMs + CLOCK_DIFFERENCE_MS
  return isNew ? null : 'unexplained'
}

/**
 * The contract does not state the unit of `created_at`: seconds, milliseconds, microseconds or nanoseconds, whichever puts it
 * into the years 1973 to 5138. NaN if there is none.
 */
function plausibleMs(createdAt: number | bigint | null): number {
  const value = Number(createdAt ?? Number.NaN)
  const inMs = [1_000, 1, 1 / 1_000, 1 / 1_000_000].map(factor => value * factor)
  return inMs.find(ms => ms >= 1e11 && ms < 1e14) ?? Number.NaN
}

/** Loads when what a run lists was last listed completely before it, in the same scope but for its folders. Null: a run that is to come. */
export async function loadListedBefore(
  client: Queryable,
  { account, resource, runId }: Pick<RunStep, 'account' | 'resource'> & { readonly runId: bigint | null },
  { folders: _, ...scope }: Scope,
): Promise<ListedBefore> {
  const runs = await findAll(client, ListedRun, LISTED_BEFORE, [
    account,
    resource,
    runId,
    JSON.stringify(scope),
  ])
  const lastAtMs = new Map<string, number>()
  for (const { folders, atMs } of runs) {
    for (const folder of folders ?? [`${EVERY_FOLDER}`]) {
      lastAtMs.set(folder, Math.max(atMs, lastAtMs.get(folder) ?? Number.NEGATIVE_INFINITY))
    }
  }
  const nowMs = await findValue(
    client,
    z.number(),
    'select (extract(epoch from clock_timestamp()) * 1000)::float8',
  )
  return { lastAtMs, nowMs }
}

const ListedRun = z.object({ folders: z.array(z.string()).nullable(), atMs: z.number() })

/** The lists of folders that were ever asked for are few: each is found in the index, and of each the last run. */
const LISTED_BEFORE = `
  with recursive asked as (
    (select scope -> 'folders' as folders from ferry.sync_runs
     where account = $1 and resource = $2 and status in ('succeeded', 'held')
     order by scope -> 'folders' limit 1)
    union all
    select n.folders from asked a cross join lateral (
      select r.scope -> 'folders' as folders from ferry.sync_runs r
      where r.account = $1 and r.resource = $2 and r.status in ('succeeded', 'held') and r.scope -> 'folders' > a.folders
      order by r.scope -> 'folders' limit 1) n
  )
  select a.folders, l.at_ms
  from asked a cross join lateral (
    select (extract(epoch from r.started_at) * 1000)::float8 as at_ms from ferry.sync_runs r
    where r.account = $1 and r.resource = $2 and r.status in ('succeeded', 'held') and r.scope -> 'folders' = a.folders
      and ($3::bigint is null or r.id < $3) and r.scope - 'folders' = $4::jsonb
    order by r.id desc limit 1
  ) l`
