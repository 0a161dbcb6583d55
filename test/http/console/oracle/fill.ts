import { readConfig } from '#src/config.ts'
import { fillWorkingDays } from '#test/support/working-days.ts'
import { type ConsoleHarness, openConsoleHarness } from '../console-harness.ts'

/** A console over some working days of two accounts, with messages to a receiver, rows that could not be applied, and nights. */
export async function openFilledConsole(): Promise<ConsoleHarness> {
  const { notify } = readConfig({ FERRY_WEBHOOK_URL: 'http://127.0.0.1:1/' })
  await using opened = new AsyncDisposableStack()
  const harness = opened.use(await openConsoleHarness({ config: { notify } }, { rules: 60, servers: 12 }))
  await fillWorkingDays(harness)
  await fillMore(harness)
  opened.move()
  return harness
}

/**
 * What the working days do not leave. Part of what they leave becomes that of another account, and what lasts does so for longer than a
 * test: a duration of days does not change from one second to the next.
 */
export async function fillMore({ ferry: { pool } }: Pick<ConsoleHarness, 'ferry'>): Promise<void> {
  await pool.query(`
    insert into ferry.snapshots (account, taken_at, status, alert_rules_run, mcp_servers_run)
    values ('default', now() - interval '3 hours', 'partial', 26, 30);
    insert into ferry.schedule_slots (account, schedule, slot, attempts, done_at, outcome)
    select account, 'snapshot-inventory', slot, 1, taken_at, status from ferry.snapshots where slot is not null
    union all
    select account, 'poll-alert-rules', now() - interval '9 minutes', 1, now() - interval '8 minutes', 'failed' from ferry.snapshots where id = 1;
    insert into ferry.quarantined_rows (run_id, position, id, reason, raw, fingerprint)
    values (26, 7, '4203000099999', 'enabled is not true or false', '{}', gen_random_uuid()), (26, 11, null, 'it has no id', '{}', gen_random_uuid());
    update ferry.sync_runs set seen = 4321, quarantined = 1200, status = 'partial', message = 'Two rows could not be read.' where id = 26;
    insert into ferry.contract_drift (account, resource, field, type, first_run) values ('default', 'alert-rules', 'severity_hint', 'string', 26);
    insert into ferry.seen_values (account, resource, field, value, first_run, is_news) values ('default', 'alert-rules', 'ds_type', 'victoria', 26, true);

    insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, attempts, retry_at, delivered_at, http_status, failure)
    select e.id, d.receiver, e.kind, e.account, e.subject, e.data, now() - d.age, d.attempts, now() + d.again,
      case when d.failure is null and d.attempts > 0 then now() - d.age end, 200, d.failure
    from (select max(id) as newest from ferry.events) n cross join (values
      (1, 'chat', interval '2 days', 9, interval '0', 'HTTP 500'), (1, 'webhook', '2 days', 1, null, null), (2, 'webhook', '1 hour', 3, '7 minutes', 'HTTP 503'),
      (3, 'webhook', '2 hours', 1, null, null), (4, 'webhook', '3 hours', 0, null, null), (5, 'webhook', '30 hours', 4, '0', 'HTTP 404')
    ) d (nth, receiver, age, attempts, again, failure) join ferry.events e on e.id = n.newest - d.nth;

    update ferry.removal_holds set opened_by_run = 27 where outcome = 'approved';
    update ferry.import_batches set claim_ends_at = now() + interval '1 hour' where claim is not null;
    update ferry.imports set confirmed_at = now() - interval '50 hours 5 minutes' where status = 'running';
    update ferry.workers set seen_at = now() + interval '1 hour';
    update ferry.platform_limits set calls_per_minute = case operation when 'import-subscribers' then 40 else 60 end;
    update ferry.alert_rule_versions set account = 'branch' where id % 4 = 1;
    update ferry.alert_rule_firings set account = 'branch' where id % 4 = 1;
    update ferry.mcp_server_versions set account = 'branch' where server_id::numeric % 3 = 1;
    update ferry.sync_runs set account = 'branch' where id % 5 = 0;
    update ferry.platform_calls set account = 'branch' where run_id % 5 = 0;
    update ferry.snapshots set account = 'branch' where id in (2, 4);
    update ferry.imports set account = 'branch' where id in (2, 4);
    update ferry.platform_calls c set account = 'branch' from ferry.import_batches b where b.id = c.batch_id and b.import_id in (2, 4);
    update ferry.audit set account = 'branch' where subject_kind = 'import' and subject_id in ('2', '4');
    update ferry.events set account = 'branch' where id % 5 = 0;
    update ferry.deliveries set account = 'branch' where event % 5 = 0;`)
}

/** What the pages and queries of declarations are about, each as an expression of SQL; `{name}` in a declaration stands for its value. */
export const VALUES: Readonly<Record<string, string>> = {
  /** Runs: one with rows that could not be applied, one of a night, one that failed; those of the hold that waits, and of one that was approved. */
  run: '(select min(run_id) from ferry.quarantined_rows)',
  nightly: `(select max(id) from ferry.sync_runs where slot is not null and resource = 'mcp-servers')`,
  failed: '(select max(run_id) from ferry.platform_calls where error_code is not null)',
  open: '(select last_run from ferry.removal_holds where ended_at is null)',
  approved: `(select last_run from ferry.removal_holds where outcome = 'approved')`,
  /** A rule that fired and changed, and a server whose tools changed. */
  rule: `(select c.id from ferry.alert_rule_changes c join ferry.alert_rule_firings f using (account, id) join ferry.alert_rules using (account, id)
    where f.ended is not null and c.change = 'changed' order by c.account, c.id desc limit 1)`,
  rule_account: '(select account from ferry.alert_rules where id = {rule})',
  server: `(select server_id from ferry.mcp_tool_changes() where change = 'description changed' limit 1)`,
  server_account: `(select account from ferry.mcp_servers where server_id = '{server}')`,
  request: '(select max(request_id) from ferry.platform_calls)',
  folder: `(select folder_id from ferry.editors(now() - interval '24 hours') order by edits desc, folder_id limit 1)`,
  /** Two nights of one account; a moment of an earlier night, and one of the last. */
  from: `(select min(id) from ferry.snapshots where account = 'default')`,
  to: `(select max(id) from ferry.snapshots where account = 'default' and slot is not null)`,
  earlier: '(select taken_at from ferry.snapshots order by id offset 1 limit 1)',
  moment: `(select date_trunc('second', max(slot)) from ferry.snapshots)`,
}
