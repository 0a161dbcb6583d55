import type { Pool } from 'pg'

/** Support asks for the request_id of a call weeks after it; nobody has been asked after a quarter. */
const KEEP_CALLS_DAYS = 90
/** As long as the calls they made: a poll every minute leaves half a million runs a year that changed nothing. */
const KEEP_IDLE_RUNS_DAYS = 90
/** Enough to see how a schedule has been doing. */
const KEEP_SLOTS_DAYS = 30

export type Pruned = {
  readonly calls: number
  readonly runs: number
  readonly quarantined: number
  readonly slots: number
}

/**
 * Calls of imports stay: few of them carry many people, and how many there were is part of an import's account.
 */
const PRUNE_CALLS = `
  delete from ferry.platform_calls
  where counted_by < clock_timestamp() - $1 * interval '1 day' and batch_id is null`

/** Removes old rows that nothing refers to and no decision rests on; returns how many of each. */
export async function prune(pool: Pool): Promise<Pruned> {
  const calls = await pool.query(PRUNE_CALLS, [KEEP_CALLS_DAYS])
  const { rows } = await pool.query<{ runs: number; quarantined: number }>(PRUNE_RUNS, [KEEP_IDLE_RUNS_DAYS])
  const slots = await pool.query(PRUNE_SLOTS, [KEEP_SLOTS_DAYS])
  return {
    calls: calls.rowCount ?? 0,
    runs: rows[0]?.runs ?? 0,
    quarantined: rows[0]?.quarantined ?? 0,
    slots: slots.rowCount ?? 0,
  }
}

/**
 * Runs that changed nothing, with their quarantined rows. The latest complete run of each scope stays, however
 * old: it is how the next one knows that its scope is not new, and what the platform said last. A run also stays while
 * rows it was the first to set aside hold for a run that stays.
 */
const PRUNE_RUNS = `
  with idle as (
    delete from ferry.sync_runs r
    where r.finished_at < clock_timestamp() - $1 * interval '1 day'
      and r.added + r.changed + r.removed + r.fired + r.recovered = 0
      and (r.applied_at is null or exists (
        select from ferry.sync_runs later
        where later.account = r.account and later.resource = r.resource and later.id > r.id
          and later.scope = r.scope and later.status in ('succeeded', 'held')))
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

/** The latest slot of a schedule stays: that it was done is what keeps it from being done again. */
const PRUNE_SLOTS = `
  delete from ferry.schedule_slots s
  where s.slot < clock_timestamp() - $1 * interval '1 day'
    and (s.done_at is not null or s.retry_at < clock_timestamp() - $1 * interval '1 day')
    and exists (
      select from ferry.schedule_slots later
      where later.account = s.account and later.schedule = s.schedule and later.slot > s.slot)`
