import { type Damage, drop, set } from './damage.ts'

const UNCHECKED = 'alter table ferry.alert_rule_versions drop constraint alert_rule_versions_interval;'
const ANY_CURRENT = 'drop index ferry.alert_rule_versions_current;'
const EPISODES =
  'alter table ferry.alert_rule_firings drop constraint alert_rule_firings_interval; drop index ferry.alert_rule_firings_open;'

/** Damage to the history, the ledger, the holds and the snapshots of the story. */
export const INVENTORY_DAMAGES: readonly Damage[] = [
  [
    'alert-rules intervals',
    `${ANY_CURRENT} ${set('alert_rule_versions', 'id = 5 and valid_to is not null', 'valid_to = null, closed_by_run = null')}`,
    /alert rule 5 of account default, version of \S+ is current, but a later one began at/,
  ],
  [
    'alert-rules intervals',
    `${UNCHECKED} ${set('alert_rule_versions', 'id = 5 and valid_to is not null', "valid_to = valid_from - interval '1 s'")}`,
    /alert rule 5 .* ends at \S+, before it begins/,
  ],
  [
    'alert-rules intervals',
    set('alert_rule_versions', 'id = 5 and valid_to is not null', "valid_to = valid_to + interval '1 us'"),
    /alert rule 5 .* after the next one began/,
  ],
  [
    'alert-rules intervals',
    `update ferry.alert_rule_versions set fingerprint = md5('same')::uuid where id = 5;`,
    /alert rule 5 .* has the same content as the next one/,
  ],
  [
    'alert-rules runs',
    set('alert_rule_versions', 'id = 21', 'opened_by_run = 999'),
    /alert rule 21 of account default, .* is not explained by run 999/,
  ],
  [
    'alert-rules runs',
    set('alert_rule_versions', 'id = 1 and valid_to is not null', 'closed_by_run = null'),
    /alert rule 1 .* no run, which ended it/,
  ],
  ['alert-rules runs', set('sync_runs', 'id = 1', "account = 'other'"), /is not explained by run 1/],
  [
    'mcp-servers intervals',
    `alter table ferry.mcp_server_versions drop constraint mcp_server_versions_interval; ${set('mcp_server_versions', 'valid_to is not null', "valid_to = valid_from - interval '1 s'")}`,
    /MCP server b .* before it begins/,
  ],
  [
    'mcp-servers runs',
    set('mcp_server_versions', "server_id = 'a'", "valid_from = valid_from - interval '1 us'"),
    /MCP server a/,
  ],
  [
    'episodes',
    `${EPISODES} ${set('alert_rule_firings', 'ended is not null', "ended = began - interval '1 s'")}`,
    /ferry.alert_rule_firings: alert rule \d .* before it begins/,
  ],
  [
    'episodes',
    `${EPISODES} insert into ferry.alert_rule_firings (account, id, began, began_run) select account, id, began + interval '1 us', began_run from ferry.alert_rule_firings limit 1;`,
    /alert rule \d/,
  ],
  ['episodes runs', set('alert_rule_firings', 'true', 'began_run = 999'), /is not explained by run 999/],
  [
    'episodes of rules',
    `insert into ferry.alert_rule_firings (account, id, began, began_run) values ('default', 77, now(), 1);`,
    /alert rule 77 .* is open, but the rule has no current version/,
  ],
  [
    'alert-rules counts',
    set('sync_runs', 'id = 1', 'added = added - 1, unchanged = unchanged + 1'),
    /run 1 .* counted 39 versions that began, but 40 are stored/,
  ],
  [
    'alert-rules counts',
    drop('alert_rule_versions', 'id = 30'),
    /run 1 .* counted 40 versions that began, but 39 are stored/,
  ],
  [
    'alert-rules counts',
    'delete from ferry.alert_rule_versions where opened_by_run = 1;',
    /run 1 .* counted 40 versions that began, but 0 are stored/,
  ],
  ['alert-rules counts', set('sync_runs', 'fired > 0', 'fired = fired + 1'), /episodes that began/],
  [
    'alert-rules counts',
    set('sync_runs', 'recovered > 0', 'recovered = recovered + 9'),
    /episodes that ended/,
  ],
  [
    'mcp-servers counts',
    drop('mcp_server_versions', "server_id = 'b'"),
    /mcp-servers of account default.* versions that began/,
  ],
  ['runs', set('sync_runs', 'id = 1', 'seen = seen + 1'), /run 1 .* saw other rows/],
  ['runs', set('sync_runs', 'id = 1', 'finished_at = null'), /run 1 .* its times are not those/],
  [
    'runs',
    set('sync_runs', 'id = 1', "applied_at = applied_at + interval '1 day'"),
    /was applied before an earlier run/,
  ],
  [
    'references',
    'update ferry.quarantined_rows set run_id = 999;',
    /ferry.quarantined_rows: a row names run 999/,
  ],
  [
    'runs by hand',
    `delete from ferry.audit where action = 'sync' and subject_id = '1';`,
    /run 1 .* was asked for by hand/,
  ],
  ['holds', set('removal_holds', "outcome = 'rejected'", 'opened_by_run = 1'), /hold 1 /],
  ['holds', set('removal_holds', "outcome = 'rejected'", 'outcome = null'), /hold 1 /],
  ['holds', set('removal_holds', "outcome = 'rejected'", "since_runs = '{999}'"), /hold 1 /],
  [
    'held runs',
    set('removal_holds', 'outcome is null', "account = 'other'"),
    /is held, but no hold names it/,
  ],
  ['decisions on holds', `delete from ferry.audit where action = 'reject';`, /hold 1 .* was rejected/],
  ['decisions on holds', `delete from ferry.audit where action = 'approve';`, /hold 2 .* was approved/],
  [
    'events of holds',
    `update ferry.events set is_open = false where kind = 'removals.held';`,
    /nobody is told of the open hold/,
  ],
  [
    'events of holds',
    `update ferry.removal_holds set ended_at = now(), outcome = 'voided' where ended_at is null;`,
    /removals.held is open .* but no hold is/,
  ],
  [
    'snapshots',
    set('snapshots', 'id = 1', 'alert_rules_run = 999'),
    /snapshot 1 .* names no applied run of alert-rules/,
  ],
  [
    'snapshots',
    set('snapshots', 'id = 1', 'mcp_servers_run = alert_rules_run'),
    /snapshot 1 .* names no applied run of mcp-servers/,
  ],
  [
    'snapshots',
    set('snapshots', 'id = 1', "status = 'partial'"),
    /snapshot 1 .* is partial, which is not the worse/,
  ],
  [
    'snapshots',
    'insert into ferry.history (starts_at) values (clock_timestamp());',
    /snapshot \d+ of account default is older than its runs, or than the history/,
  ],
  [
    'snapshots',
    set('snapshots', 'id = 1', "taken_at = taken_at - interval '1 hour'"),
    /snapshot 1 .* is older than/,
  ],
]
