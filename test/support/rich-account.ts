import type { FerryHarness } from './ferry-harness.ts'
import { letTimePass } from './let-time-pass.ts'
import { fillWorkingDays } from './working-days.ts'

/** Fills the account `default` with all that Ferry can know of one. */
export async function fillRichAccount({
  ferry,
  sandbox,
  sync,
}: Pick<FerryHarness, 'ferry' | 'sandbox' | 'sync'>): Promise<void> {
  const { pool } = ferry
  await fillWorkingDays({ ferry, sandbox })
  for (const id of sandbox.state.rules.ids())
    sandbox.state.changeRule(id, { delay_seconds: 77n, updater_id: 5n, updater_name: 'Ada' })
  await sync()
  // What is said in seconds, or counted by them, would differ from one moment to the next.
  await letTimePass(pool, '3 hours 7 minutes')
  await pool.query(FILL_THE_REST)
}

/** What working days do not leave. */
const FILL_THE_REST = `
  update ferry.sync_runs set scope = jsonb_set(scope, '{folders}', '["3100051131000", "3100051131001"]')
    where resource = 'alert-rules' and id between 80 and 170;
  insert into ferry.schedule_slots (account, schedule, slot, attempts, done_at, outcome)
    select account, 'snapshot-inventory', slot, 1, taken_at, status from ferry.snapshots where slot is not null;
  insert into ferry.schedule_slots (account, schedule, slot) values ('default', 'poll-alert-rules', '2026-01-01Z');
  insert into ferry.leases (name, token, holder, acquired_at, expires_at)
    values ('slot:poll-alert-rules:default:2026-01-01T00:00:00.000Z', gen_random_uuid(), 'a worker', now(), now() + interval '1 hour');
  update ferry.alert_rule_versions set cron_pattern = 'x y z * *', flags = '{a flag}', debug_log_enabled = true
    where valid_to is null and id = (select min(id) from ferry.alert_rules);
  insert into ferry.snapshots (account, taken_at, status, alert_rules_run, mcp_servers_run)
    select 'default', now() - interval '3 hours', 'partial', alert_rules_run, mcp_servers_run from ferry.snapshots order by id desc limit 1;
  insert into ferry.quarantined_rows (run_id, position, id, reason, raw, fingerprint)
    select id, n, '420300009999' || n, 'enabled is not true or false', '{"name": "raw"}', gen_random_uuid()
    from (select min(id) as id from ferry.sync_runs where status = 'held') r, generate_series(7, 8) n;
  update ferry.sync_runs set quarantined = 2, status = 'partial', message = 'Two rows could not be read.'
    where id = (select run_id from ferry.quarantined_rows limit 1);
  insert into ferry.contract_drift (account, resource, field, type, first_run)
    select 'default', 'alert-rules', 'severity_hint', 'string', min(run_id) from ferry.quarantined_rows;
  insert into ferry.seen_values (account, resource, field, value, first_run, is_news)
    select 'default', 'alert-rules', 'ds_type', 'victoria', min(run_id), true from ferry.quarantined_rows;
  insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, attempts, retry_at, delivered_at, http_status, failure)
    select e.id, d.receiver, e.kind, e.account, e.subject, e.data, now() - d.age, d.attempts, now() + d.again,
      case when d.failure is null and d.attempts > 0 then now() - d.age end, 200, d.failure
    from (select *, row_number() over (order by id desc) as nth from ferry.events) e join (values
      (1, 'chat', interval '2 days', 9, interval '0', 'HTTP 500'), (1, 'webhook', '2 days', 1, null, null),
      (2, 'webhook', '1 hour', 3, '7 minutes', 'HTTP 503'), (3, 'webhook', '2 hours', 1, null, null),
      (4, 'webhook', '3 hours', 0, null, null), (5, 'webhook', '30 hours', 4, '0', 'HTTP 404')
    ) d (nth, receiver, age, attempts, again, failure) using (nth);
  update ferry.import_batches set claim_ends_at = now() + interval '1 hour' where claim is not null;
  update ferry.workers set seen_at = now() + interval '1 hour';
  update ferry.platform_limits set calls_per_minute = case operation when 'import-subscribers' then 40 else 60 end`
