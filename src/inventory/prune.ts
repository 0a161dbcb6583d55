import type { Pool } from 'pg'
import { type OldRows, rowsOlderThan } from '#src/db/prune.ts'
import { onlyRow } from '#src/db/rows.ts'
import { COMPLETE_STATUSES } from '#src/model/run.ts'

/** Runs looked at in one transaction. A run may have stored 500 quarantined rows. */
const BATCH_RUNS = 500

/**
 * Returns the old runs that changed nothing, to which nothing refers and on which no decision depends. They are removed with
 * their quarantined rows, in the order of their ids, up to the first `BATCH_RUNS` that are all young.
 */
export function oldRuns(pool: Pool, keepMs: number | null): OldRows {
  return rowsOlderThan(
    pool,
    keepMs,
    'ferry.sync_runs',
    async ago => {
      const sum = `select count(*)::int as runs from ferry.sync_runs r where ${IS_IDLE}`
      const { rows } = await pool.query<{ runs: number }>(sum, [ago, COMPLETE_STATUSES])
      return onlyRow(rows, 'the count of old runs').runs
    },
    ago => {
      let after = '0'
      return async () => {
        const params = [ago, COMPLETE_STATUSES, after, BATCH_RUNS]
        const { rows } = await pool.query<Page>(REMOVE_AFTER, params)
        const { last, old, removed } = onlyRow(rows, 'the count of pruned runs')
        after = last ?? after
        return { removed, isLast: last === null || old === 0 }
      }
    },
  )
}

type Page = { readonly last: string | null; readonly old: number; readonly removed: number }

/**
 * Whether run `r` can go. The counts of a run say whether a version or firing names it. The latest complete run of each
 * scope stays, however old it is: the next run learns from it that its scope is not new. A run also stays while quarantined
 * rows that it stored count for a run that stays. `offset 0` makes Postgres look that up for each run: as joins, they would
 * read whole tables for each batch.
 */
const IS_IDLE = `
  r.finished_at < $1::timestamptz
  and r.added + r.changed + r.removed + r.fired + r.recovered = 0
  and (r.applied_at is null or exists (
    select from ferry.sync_runs later
    where later.account = r.account and later.resource = r.resource and later.id > r.id
      and later.scope = r.scope and later.status = any ($2) offset 0))
  and not exists (select from ferry.snapshots s where s.alert_rules_run = r.id)
  and not exists (select from ferry.snapshots s where s.mcp_servers_run = r.id)
  and not exists (select from ferry.removal_holds h where h.opened_by_run = r.id)
  and not exists (select from ferry.removal_holds h where h.last_run = r.id)
  and not exists (select from ferry.contract_drift d where d.first_run = r.id)
  and not exists (select from ferry.platform_accounts p where p.first_run = r.id)
  and not exists (
    select from ferry.quarantined_rows q, ferry.sync_runs later
    where later.account = r.account and later.resource = r.resource and later.scope = r.scope
      and q.run_id = r.id and q.fingerprint is not null
      and later.id > r.id and coalesce(later.id < q.until_run, true)
      and (later.finished_at >= $1::timestamptz or later.finished_at is null
        or later.added + later.changed + later.removed + later.fired + later.recovered > 0) offset 0)`

const REMOVE_AFTER = `
  with page as materialized (
    select * from ferry.sync_runs where id > $3::bigint order by id limit $4::int
  ), idle as materialized (
    select r.id from page r where ${IS_IDLE}
  ), gone as (
    delete from ferry.sync_runs where id = any (array(select id from idle)) returning id
  ), quarantined as (
    delete from ferry.quarantined_rows where run_id = any (array(select id from idle)) returning run_id
  )
  select max(id)::text as last, count(*) filter (where finished_at < $1::timestamptz)::int as old,
    (select count(*)::int from gone) as removed
  from page`
