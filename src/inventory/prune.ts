import type { Pool } from 'pg'
import { onlyRow } from '#src/db/rows.ts'
import { COMPLETE_STATUSES } from '#src/model/run.ts'

/** As long as the calls they made: a poll every minute leaves half a million runs a year that changed nothing. */
const KEEP_IDLE_RUNS_DAYS = 90

/** Removes old runs that nothing refers to and no decision depends on. Returns how many, and how many quarantined rows. */
export async function pruneRuns(pool: Pool): Promise<{ runs: number; quarantined: number }> {
  const { rows } = await pool.query<{ runs: number; quarantined: number }>(PRUNE_RUNS, [
    KEEP_IDLE_RUNS_DAYS,
    COMPLETE_STATUSES,
  ])
  return onlyRow(rows, 'the count of pruned runs')
}

/**
 * Deletes runs that changed nothing, with their quarantined rows. The latest complete run of each scope stays, however old
 * it is: the next run learns from it that its scope is not new. A run also stays while quarantined rows that it stored
 * count for a run that stays.
 */
const PRUNE_RUNS = `
  with idle as (
    delete from ferry.sync_runs r
    where r.finished_at < clock_timestamp() - $1 * interval '1 day'
      and r.added + r.changed + r.removed + r.fired + r.recovered = 0
      and (r.applied_at is null or exists (
        select from ferry.sync_runs later
        where later.account = r.account and later.resource = r.resource and later.id > r.id
          and later.scope = r.scope and later.status = any ($2)))
      and not exists (select from ferry.alert_rule_versions v where v.opened_by_run = r.id)
      and not exists (select from ferry.alert_rule_versions v where v.closed_by_run = r.id)
      and not exists (select from ferry.mcp_server_versions v where v.opened_by_run = r.id)
      and not exists (select from ferry.mcp_server_versions v where v.closed_by_run = r.id)
      and not exists (select from ferry.alert_rule_firings f where f.began_run = r.id)
      and not exists (select from ferry.alert_rule_firings f where f.ended_run = r.id)
      and not exists (select from ferry.snapshots s where s.alert_rules_run = r.id)
      and not exists (select from ferry.snapshots s where s.mcp_servers_run = r.id)
      and not exists (select from ferry.removal_holds h where h.opened_by_run = r.id)
      and not exists (select from ferry.removal_holds h where h.last_run = r.id)
      and not exists (select from ferry.contract_drift d where d.first_run = r.id)
      and not exists (select from ferry.platform_accounts p where p.first_run = r.id)
      and not exists (
        select from ferry.quarantined_rows q, ferry.sync_runs later
        where later.account = r.account and later.resource = r.resource and later.scope = r.scope and q.run_id = r.id and q.fingerprint is not null
          and later.id > r.id and coalesce(later.id < q.until_run, true)
          and (later.finished_at >= clock_timestamp() - $1 * interval '1 day' or later.finished_at is null
            or later.added + later.changed + later.removed + later.fired + later.recovered > 0))
    returning r.id
  ), quarantined as (
    delete from ferry.quarantined_rows q using idle where q.run_id = idle.id returning q.run_id
  )
  select (select count(*)::int from idle) as runs, (select count(*)::int from quarantined) as quarantined`
