import type { Pool } from 'pg'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { insertFiring, insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import type { Seen } from './seen.ts'
import type { AccountHistory } from './world.ts'

/** How old the alert rules may be, by the target of a worker. */
export const TARGET_MS = 15 * 60_000
/** How long each run of the oracle takes. */
export const RUN_MS = 10_000

const instant = (ms: number | null) => (ms === null ? undefined : new Date(ms))

/** Stores what was seen, as runs would have. Runs are numbered by their time in their account: `firstRun` is the first. */
export async function storeHistory(pool: Pool, history: AccountHistory, seen: Seen): Promise<void> {
  const { account, polls, serverPolls, snapshots, targetFolders } = history
  for (const { id, fromMs, toMs, of, appeared } of seen.rules) {
    const { team, ...same } = of
    const labels = team === null ? null : { team }
    await insertRuleVersion(pool, {
      ...same,
      account,
      id,
      labels,
      appeared,
      from: new Date(fromMs),
      to: instant(toMs),
    })
  }
  for (const { id, fromMs, toMs, of, appeared } of seen.servers) {
    await insertServerVersion(pool, {
      ...of,
      account,
      id,
      appeared,
      from: new Date(fromMs),
      to: instant(toMs),
    })
  }
  for (const { id, fromMs, toMs } of seen.episodes) {
    await insertFiring(pool, { account, id, from: new Date(fromMs), to: instant(toMs) })
  }
  await pool.query(RUNS, [
    account,
    polls.map(({ atMs }) => new Date(atMs - RUN_MS)),
    polls.map(({ status }) => status),
    polls.map(({ folders }) => JSON.stringify(folders)),
    'alert-rules',
  ])
  await pool.query(RUNS, [
    account,
    serverPolls.map(({ atMs }) => new Date(atMs - RUN_MS)),
    serverPolls.map(() => 'succeeded'),
    serverPolls.map(() => 'null'),
    'mcp-servers',
  ])
  for (const { atMs, isScheduled, status } of snapshots) {
    await pool.query(
      `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
       values ($1, $2, $3, $4, 1, 1)`,
      [account, isScheduled ? new Date(atMs) : null, new Date(atMs), status],
    )
  }
  await saveFreshnessTargets(pool, [
    { ...FRESHNESS_TARGET, account, targetMs: TARGET_MS, folders: targetFolders },
    { ...FRESHNESS_TARGET, account, resource: 'mcp-servers', targetMs: 25 * 3_600_000, folders: null },
  ])
}

const RUNS = `
  insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status, started_at, applied_at,
    finished_at, error_code)
  select $1, $5, 'schedule', jsonb_build_object('folders', folders::jsonb, 'keyHash', 'k'), '10,20%', 1, status, at,
    case when status = 'succeeded' then at + interval '10 s' end, at + interval '10 s',
    case when status <> 'succeeded' then upper(status) end
  from unnest($2::timestamptz[], $3::text[], $4::text[]) as run (at, status, folders)
  order by at`
