import type { SQL } from 'drizzle-orm'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { drizzleOf, isNull, sql } from '#src/db/drizzle.ts'
import { expiredInSql, isOwnedInSql } from '#src/db/lease-rows.ts'
import { rowsOf } from '#src/db/rows.ts'
import { WORKER_LOST } from '#src/inventory/messages.ts'
import { syncRuns } from '#src/inventory/schema.ts'
import { type Inventory, RESOURCES } from '#src/model/resource.ts'

/**
 * A worker that was suspended renews its lease as soon as it continues, if no other worker has taken the lease. So the
 * reconciler waits this long after the end of a lease before it fails the run; who takes the lease fails it at once.
 */
const GRACE_MS = 30_000

/** A COPY that waits for rows so long after it began is that of a suspended worker: others end theirs after some seconds. */
const SUSPENDED_AFTER_MS = 60_000

/**
 * Ends the transactions of workers that were suspended in the middle of writing versions, for they keep their locks: Postgres
 * itself ends those that are idle, but not those that wait for more rows.
 */
const END_SUSPENDED_COPIES = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and usename = current_user and wait_event = 'ClientRead'
    and query like 'copy ferry.%\\_versions %' and query_start < clock_timestamp() - $1 * interval '1 ms'`

/** Fails the unfinished runs of an inventory that were started under another lease than that of `token`. */
export async function failRunsBefore(
  client: Pool | PoolClient,
  inventory: Inventory,
  token: string,
): Promise<void> {
  const { account, resource } = inventory
  await drizzleOf(client).execute(
    sql`with ${failRunsWhere(
      sql`account = ${account} and resource = ${resource} and lease_token is distinct from ${token}`,
    )}`,
  )
}

/** SQL that says whether any run is unfinished. Without one, none is lost. */
export const ANY_UNFINISHED_IN_SQL = 'exists (select from ferry.sync_runs where finished_at is null)'

/**
 * Fails every unfinished run whose lease has expired, and returns these runs.
 *
 * A lease whose row is locked is in use: its run is being applied, for longer than the lease lives.
 */
export async function failLostRuns(
  pool: Pool,
  suspendedAfterMs = SUSPENDED_AFTER_MS,
): Promise<z.infer<typeof LostRun>[]> {
  const { id, account, resource } = syncRuns
  const unfinished = await drizzleOf(pool)
    .select({ id, account, resource })
    .from(syncRuns)
    .where(isNull(syncRuns.finished_at))
  if (unfinished.length === 0) return []
  await pool.query(END_SUSPENDED_COPIES, [suspendedAfterMs])
  const ids = sql.param(unfinished.map(run => run.id))
  const names = sql.param(unfinished.map(leaseNameOf))
  const failed = await drizzleOf(pool).execute(sql`
    with run as (
      select * from unnest(${ids}::bigint[], ${names}::text[]) as run (id, lease)
    ), expired as (
      ${expiredInSql(GRACE_MS)}
    ), ${failRunsWhere(sql`exists (
      select from run where run.id = sync_runs.id and (
        not ${isOwnedInSql(sql`run.lease`, sql`lease_token`)}
        or exists (select from expired e where e.name = run.lease and e.token = lease_token)))`)}`)
  return rowsOf(LostRun, failed)
}

const LostRun = z.object({ id: z.string(), account: z.string(), resource: z.enum(RESOURCES) })

/** Returns them; who looks for calls without an answer finds those that they were waiting for. */
function failRunsWhere(condition: SQL): SQL {
  return sql`
    lost as (
      update ferry.sync_runs
      set status = 'failed', finished_at = clock_timestamp(), error_code = ${WORKER_LOST.errorCode},
        message = ${WORKER_LOST.message}
      where finished_at is null and ${condition}
      returning id, account, resource
    ), unanswered as (
      update ferry.platform_calls c set error_code = ${WORKER_LOST.errorCode}
      from lost where c.run_id = lost.id and c.finished is null
    )
    select * from lost`
}

/** The name of the lease under which an inventory is synced: one run at a time. */
export function leaseNameOf({ account, resource }: Inventory): string {
  return `sync:${account}:${resource}`
}
