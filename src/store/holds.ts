import type { Pool, PoolClient } from 'pg'
import type { Resource } from '#src/model/resource.ts'
import type { Scope } from './runs.ts'

/** Removals that wait for a person: at most one open hold an inventory. */
export type Hold = {
  readonly account: string
  readonly resource: Resource
  /** What the held run was allowed to see: an approval reads the same. */
  readonly scope: Scope
  readonly ids: readonly string[]
}

/**
 * Opens a hold on the removal of `ids`, or brings the open one up to date. One made for other folders is ended: what
 * it held is looked at again by the next run that lists them.
 */
export async function holdRemovals(
  client: PoolClient,
  run: { account: string; resource: Resource; runId: bigint },
  scope: Scope,
  ids: readonly string[],
): Promise<void> {
  await client.query(
    `update ferry.removal_holds h set ended_at = clock_timestamp(), outcome = 'voided'
     from ferry.sync_runs r
     where h.account = $1 and h.resource = $2 and h.ended_at is null and r.id = h.last_run
       and r.scope -> 'folders' <> $3::jsonb -> 'folders'`,
    [run.account, run.resource, JSON.stringify(scope)],
  )
  await client.query(
    `insert into ferry.removal_holds (account, resource, opened_by_run, last_run, ids) values ($1, $2, $3, $3, $4)
     on conflict (account, resource) where ended_at is null
     do update set last_run = excluded.last_run, ids = excluded.ids`,
    [run.account, run.resource, run.runId, ids],
  )
}

/**
 * Ends the open hold, if there is one and this scope covers its folders: a complete listing has decided about its rows.
 * The key may have changed since: a run whose new key sees too little to decide does not come here.
 */
export async function endHold(
  client: PoolClient,
  run: { account: string; resource: Resource },
  scope: Scope,
  outcome: 'approved' | 'voided',
): Promise<void> {
  await client.query(
    `update ferry.removal_holds h set ended_at = clock_timestamp(), outcome = $4
     from ferry.sync_runs r
     where h.account = $1 and h.resource = $2 and h.ended_at is null and r.id = h.last_run
       and $3::jsonb -> 'folders' in (r.scope -> 'folders', '["0"]')`,
    [run.account, run.resource, JSON.stringify(scope), outcome],
  )
}

/** The open hold that a held run made or brought up to date, or null. */
export async function loadOpenHold(pool: Pool, runId: bigint): Promise<Hold | null> {
  const { rows } = await pool.query<Hold>(
    `select h.account, h.resource, last.scope, h.ids
     from ferry.sync_runs r
     join ferry.removal_holds h on h.account = r.account and h.resource = r.resource and h.ended_at is null
       and r.id between h.opened_by_run and h.last_run
     join ferry.sync_runs last on last.id = h.last_run
     where r.id = $1 and r.status = 'held'`,
    [runId],
  )
  return rows[0] ?? null
}

/**
 * Ends the open hold that a held run made or brought up to date: its rows are not gone, and are kept for as long as they
 * stay absent. Takes the place of an earlier rejection. Returns how many rows it holds, or null if there is no such hold.
 */
export async function rejectHold(pool: Pool, runId: bigint, by: string): Promise<number | null> {
  const { rows } = await pool.query<{ kept: number }>(
    `with rejected as (
       update ferry.removal_holds h set ended_at = clock_timestamp(), outcome = 'rejected', rejected_by = $2,
         rejected_ids = h.ids
       from ferry.sync_runs r
       where r.id = $1 and r.status = 'held' and h.account = r.account and h.resource = r.resource
         and h.ended_at is null and r.id between h.opened_by_run and h.last_run
       returning h.id, h.account, h.resource, cardinality(h.ids) as kept
     ), replaced as (
       update ferry.removal_holds h set rejected_ids = null from rejected
       where h.account = rejected.account and h.resource = rejected.resource and h.id <> rejected.id
         and h.rejected_ids is not null
     )
     select kept from rejected`,
    [runId, by],
  )
  return rows[0]?.kept ?? null
}

/** The ids whose removal a person rejected and that no complete listing has had since, each with the run that held it. */
export async function loadRejectedIds(
  pool: Pool,
  { account, resource }: { account: string; resource: string },
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ id: string; run: string }>(
    `select unnest(rejected_ids) as id, last_run::text as run from ferry.removal_holds
     where account = $1 and resource = $2 and rejected_ids is not null`,
    [account, resource],
  )
  return new Map(rows.map(row => [row.id, row.run]))
}

/** Narrows a rejection to what is still absent, if this scope covers its folders: what was listed again may be held anew. */
export async function narrowRejection(
  client: PoolClient,
  run: { account: string; resource: Resource },
  scope: Scope,
  absent: readonly string[],
): Promise<void> {
  await client.query(
    `update ferry.removal_holds h
     set rejected_ids = nullif(array(select id from unnest(h.rejected_ids) id where id = any ($4)), '{}')
     from ferry.sync_runs r
     where h.account = $1 and h.resource = $2 and h.rejected_ids is not null and r.id = h.last_run
       and $3::jsonb -> 'folders' in (r.scope -> 'folders', '["0"]')`,
    [run.account, run.resource, JSON.stringify(scope), absent],
  )
}
