import type { Pool } from 'pg'

/* Tables of a size at which a plan that reads them whole is too slow. All rows are old, but for the last hundredth. */

const AT = `now() - (case when n * 100 <= $1::int * 99 then '200 days' else '2 days' end)::interval + n * interval '1 ms'`

export async function insertCalls(pool: Pool, rows: number): Promise<void> {
  await pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, http_status, request_id, run_id)
     select 'account:a', 'a', 'list-alert-rules', ${AT}, ${AT}, ${AT}, 200, md5(n::text), n
     from generate_series(1, $1::int) n`,
    [rows],
  )
}

export async function insertIdleRuns(pool: Pool, rows: number): Promise<void> {
  await pool.query(
    `insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status, started_at,
       applied_at, finished_at, seen, unchanged, data_hashes)
     select 'a' || n % 10, 'alert-rules', 'schedule', '{"folders": ["0"]}', '10,20%', 1, 'succeeded', ${AT}, ${AT}, ${AT},
       100, 100, array[md5(n::text)]
     from generate_series(1, $1::int) n`,
    [rows],
  )
}

/** Ten ended versions of each rule, and one current. */
export async function insertVersions(pool: Pool, rows: number): Promise<void> {
  await pool.query(
    `insert into ferry.alert_rule_versions (account, id, valid_from, valid_to, opened_by_run, closed_by_run, name,
       fingerprint, account_id, folder_id, labels, ds_type, enabled, debug_log_enabled, cron_pattern, delay_seconds,
       creator_id, creator_name, updater_id, updater_name, created_at, updated_at)
     select 'a', n / 11, now() - (11 - n % 11) * interval '30 days', case when n % 11 < 10 then now() - (10 - n % 11) * interval '30 days' end,
       1, case when n % 11 < 10 then 1 end, 'rule ' || n / 11, md5(n::text)::uuid, 1, n % 20, '{"team": "core"}', 'prometheus',
       true, false, '* * * * *', 0, 1, 'Grace', 1, 'Ada', 0, 0
     from generate_series(1, $1::int) n`,
    [rows],
  )
}
