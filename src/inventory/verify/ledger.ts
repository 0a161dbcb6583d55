import { z } from 'zod'
import { type Check, check } from '#src/db/verify.ts'
import { wordsInSql } from '#src/db/words-in-sql.ts'
import { VERSIONS } from '#src/inventory/versioned-tables.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'
import { APPLIED_STATUSES } from '#src/model/run.ts'

/*
 * What the ledger of runs, the holds and the snapshots promise: sums that add up, and references that lead somewhere.
 */

const RunRow = z.object({ id: z.string(), account: z.string(), resource: z.string() })
type RunRow = z.infer<typeof RunRow>

const run = ({ id, account, resource }: RunRow) =>
  `ferry.sync_runs: run ${id} (${resource} of account ${account})`

const LOOK = 'Compare the run with a backup; `ferry runs show ID` shows what Ferry knows of it.'

/** Versions and episodes that a run began or ended, against what it counted. Since the history starts, none was pruned. */
function countsOf(resource: Resource): Check {
  const { name: table } = VERSIONS[resource]
  const firings = resource === 'alert-rules'
  return check(RunRow.extend({ counted: z.number(), stored: z.number(), what: z.string() }), {
    name: `${resource} counts`,
    holds: 'a run began and ended as many versions and episodes as it counted',
    broken: `
        with opened as (
          select opened_by_run as id, count(*)::int as n from ${table} group by opened_by_run
        ), closed as (
          select closed_by_run as id, count(*)::int as n from ${table} where closed_by_run is not null group by closed_by_run
        )${
          firings
            ? `, began as (
          select began_run as id, count(*)::int as n from ferry.alert_rule_firings group by began_run
        ), ended as (
          select ended_run as id, count(*)::int as n from ferry.alert_rule_firings where ended_run is not null group by ended_run
        )`
            : ''
        }
        select r.id::text, r.account, r.resource, w.what, w.counted, w.stored
        from ferry.sync_runs r
        left join opened o on o.id = r.id
        left join closed c on c.id = r.id
        ${firings ? 'left join began b on b.id = r.id left join ended e on e.id = r.id' : ''}
        cross join lateral (values
          ('versions that began', r.added + r.changed, coalesce(o.n, 0)),
          ('versions that ended', r.changed + r.removed, coalesce(c.n, 0))
          ${
            firings
              ? `, ('episodes that began', r.fired, coalesce(b.n, 0)),
          -- The removal of a rule ends its episode too, and is counted as removed.
          ('episodes that ended', greatest(r.recovered, least(coalesce(e.n, 0), r.recovered + r.removed)), coalesce(e.n, 0))`
              : ''
          }
        ) w (what, counted, stored)
        where r.resource = $1 and r.applied_at >= ferry.history_start() and w.counted <> w.stored`,
    values: [resource],
    found: row => `${run(row)} counted ${row.counted} ${row.what}, but ${row.stored} are stored`,
    whatToDo: LOOK,
  })
}

/** Checks of the ledger. */
export const RUN_CHECKS: readonly Check[] = [
  ...RESOURCES.map(countsOf),
  check(RunRow.extend({ status: z.string(), isSum: z.boolean(), isLater: z.boolean() }), {
    name: 'runs',
    holds:
      'the rows of a run add up, its times fit its status, and runs of one inventory were applied one after another',
    broken: `
      select id::text, account, resource, status, is_sum, is_later from (
        select r.*, seen = added + changed + unchanged + quarantined as is_sum, (applied_at > max(applied_at) over (
          partition by account, resource order by id rows between unbounded preceding and 1 preceding)) is not false as is_later
        from ferry.sync_runs r
      ) r
      where not is_sum or not is_later or (finished_at is null) <> (status = 'running')
        or (applied_at is not null) <> (status in (${wordsInSql(APPLIED_STATUSES)}))`,
    found: row =>
      row.isSum
        ? `${run(row)} is ${row.status}, ${row.isLater ? 'but its times are not those of such a run' : 'but was applied before an earlier run'}`
        : `${run(row)} saw other rows than added + changed + unchanged + quarantined`,
    whatToDo: LOOK,
  }),
  check(RunRow.extend({ what: z.string() }), {
    name: 'references',
    holds: 'what names a run names one that exists',
    broken: `
      select r.run_id::text as id, coalesce(r.account, '') as account, coalesce(r.resource, '') as resource, r.what from (
        select run_id, null as account, null as resource, 'ferry.quarantined_rows' as what from ferry.quarantined_rows
        union all select first_run, account, resource, 'ferry.contract_drift' from ferry.contract_drift
        union all select first_run, account, null, 'ferry.platform_accounts' from ferry.platform_accounts
      ) r
      where not exists (select from ferry.sync_runs s where s.id = r.run_id)`,
    found: ({ id, what }) => `${what}: a row names run ${id}, which does not exist`,
    whatToDo: 'The run is missing from ferry.sync_runs: restore it from a backup.',
  }),
  check(RunRow, {
    name: 'runs by hand',
    holds: 'who asked for a run is in the audit',
    broken: `
      select r.id::text, r.account, r.resource from ferry.sync_runs r
      where r.trigger = 'manual'
        and not exists (select from ferry.audit a
          where a.subject_kind = 'run' and a.subject_id = r.id::text and a.action = 'sync')
        and not exists (select from ferry.audit a
          where a.subject_kind = 'schedule' and a.action = 'run' and a.account in (r.account, '*') and a.at <= r.started_at)`,
    found: row => `${run(row)} was asked for by hand, but ferry.audit does not say by whom`,
    whatToDo: 'A row of ferry.audit is missing: compare it with a backup.',
  }),
]

const SnapshotRow = z.object({
  id: z.string(),
  account: z.string(),
  status: z.string(),
  lacks: z.string().nullable(),
  isCovered: z.boolean(),
})

/** Checks of the snapshots. */
export const SNAPSHOT_CHECKS: readonly Check[] = [
  check(SnapshotRow, {
    name: 'snapshots',
    holds:
      'a snapshot has both of its runs, applied before it, the status of the worse one, and a history to show',
    broken: `
      select s.id::text, s.account, s.status,
        case when a.applied_at is null then 'alert-rules' when m.applied_at is null then 'mcp-servers' end as lacks,
        s.taken_at >= greatest(a.applied_at, m.applied_at, ferry.history_start()) as is_covered
      from ferry.snapshots s
      left join ferry.sync_runs a on a.id = s.alert_rules_run and a.account = s.account and a.resource = 'alert-rules'
      left join ferry.sync_runs m on m.id = s.mcp_servers_run and m.account = s.account and m.resource = 'mcp-servers'
      where a.applied_at is null or m.applied_at is null
        or s.taken_at < greatest(a.applied_at, m.applied_at, ferry.history_start())
        or s.status <> case when 'held' in (a.status, m.status) then 'held'
          when 'partial' in (a.status, m.status) then 'partial' else 'succeeded' end`,
    found: ({ id, account, status, lacks, isCovered }) => {
      const snapshot = `ferry.snapshots: snapshot ${id} of account ${account}`
      if (lacks !== null) return `${snapshot} names no applied run of ${lacks}`
      if (!isCovered) return `${snapshot} is older than its runs, or than the history`
      return `${snapshot} is ${status}, which is not the worse status of its runs`
    },
    whatToDo: 'Do not rely on this snapshot. Restore its row or its run from a backup.',
  }),
]
