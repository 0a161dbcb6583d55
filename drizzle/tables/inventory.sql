-- One current version of a rule. A comparison, a report about all rules, and a search of their list read this index alone,
-- however long the history is. In the order of the ids, in which rows are added: an index of the words took eight times as long.
CREATE UNIQUE INDEX IF NOT EXISTS alert_rule_versions_current ON ferry.alert_rule_versions (id, account)
  INCLUDE (fingerprint, folder_id, enabled, debug_log_enabled, team, valid_from, words) WHERE valid_to IS NULL;

-- What ended lately; by its start too, so that of what ended since a night only what was there then is fetched. What began
-- lately lies together in the table, what ended does not: hence id and account.
CREATE INDEX IF NOT EXISTS alert_rule_versions_by_end ON ferry.alert_rule_versions (valid_to, valid_from)
  INCLUDE (id, account) WHERE valid_to IS NOT NULL;

-- For how long a rule was disabled.
CREATE INDEX IF NOT EXISTS alert_rule_versions_disabled ON ferry.alert_rule_versions (id, account, valid_from)
  INCLUDE (valid_to) WHERE NOT enabled;

-- The index of current rules answers alone only where vacuum has been. And a version that ends stays on its page if that has
-- room: otherwise each makes Postgres write another page as well, and after a checkpoint pages are logged whole.
ALTER TABLE ferry.alert_rule_versions
  SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);

-- One current version of a server.
CREATE UNIQUE INDEX IF NOT EXISTS mcp_server_versions_current ON ferry.mcp_server_versions (server_id, account)
  INCLUDE (fingerprint) WHERE valid_to IS NULL;

COMMENT ON TABLE ferry.sync_runs IS 'The ledger: one row for every attempt to read an inventory, whatever its outcome. A run that changed nothing is kept for FERRY_KEEP_RUNS.';
COMMENT ON COLUMN ferry.sync_runs.id IS 'The run''s number, as `ferry runs show` takes it.';
COMMENT ON COLUMN ferry.sync_runs.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.sync_runs.resource IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.sync_runs.trigger IS 'What started it: schedule, manual or catch-up.';
COMMENT ON COLUMN ferry.sync_runs.slot IS 'The scheduled time it was due at; null for a manual run.';
COMMENT ON COLUMN ferry.sync_runs.scope IS 'What was asked for (folders, include_account, a hash of the key): the same rows can be expected only of the same scope.';
COMMENT ON COLUMN ferry.sync_runs.guard IS 'The removal guard that applied to the run.';
COMMENT ON COLUMN ferry.sync_runs.fingerprint_version IS 'The way fingerprints were computed.';
COMMENT ON COLUMN ferry.sync_runs.status IS 'running; succeeded: everything listed is in Postgres; partial: added and changed, removed nothing; held: removals wait for a person; failed: nothing was applied; skipped: another run was already reading the inventory.';
COMMENT ON COLUMN ferry.sync_runs.started_at IS 'When the run began.';
COMMENT ON COLUMN ferry.sync_runs.applied_at IS 'When its changes became visible, and the valid_from of the versions it opened; null if it applied nothing.';
COMMENT ON COLUMN ferry.sync_runs.finished_at IS 'When the run ended; null while it runs, or if its worker was lost and nobody has noticed yet.';
COMMENT ON COLUMN ferry.sync_runs.requests IS 'Requests made to the platform, repeated ones included.';
COMMENT ON COLUMN ferry.sync_runs.pages IS 'Answers read: pages, or folders.';
COMMENT ON COLUMN ferry.sync_runs.seen IS 'Rows the platform delivered: added + changed + unchanged + quarantined.';
COMMENT ON COLUMN ferry.sync_runs.added IS 'Rows not known before, or back again.';
COMMENT ON COLUMN ferry.sync_runs.changed IS 'Rows that got a new version.';
COMMENT ON COLUMN ferry.sync_runs.removed IS 'Rows gone from the platform and closed.';
COMMENT ON COLUMN ferry.sync_runs.unchanged IS 'Rows whose current version still holds.';
COMMENT ON COLUMN ferry.sync_runs.quarantined IS 'Rows that could not be applied: see quarantined_rows.';
COMMENT ON COLUMN ferry.sync_runs.fired IS 'Rules seen to begin firing.';
COMMENT ON COLUMN ferry.sync_runs.recovered IS 'Rules seen to have stopped firing.';
COMMENT ON COLUMN ferry.sync_runs.first_read IS 'Of the added rows, how many a first reading found: their folder had never been listed completely before.';
COMMENT ON COLUMN ferry.sync_runs.data_hashes IS 'Hashes of the answers'' data: identical answers need not be compared row by row.';
COMMENT ON COLUMN ferry.sync_runs.error_code IS 'The platform''s error code, or one of Ferry''s own; null if all went well.';
COMMENT ON COLUMN ferry.sync_runs.request_id IS 'The platform''s id of the call that failed, for its support.';
COMMENT ON COLUMN ferry.sync_runs.message IS 'What happened and what to do; null if there is nothing to report.';
COMMENT ON COLUMN ferry.sync_runs.lease_token IS 'The fencing token the run worked under.';

COMMENT ON TABLE ferry.alert_rule_versions IS 'Every version of every alert rule ever observed. A row holds from valid_from until valid_to; the current one has no valid_to. Intervals of one rule never overlap. Columns bear the platform''s own field names.';
COMMENT ON COLUMN ferry.alert_rule_versions.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.alert_rule_versions.valid_from IS 'When this version was first observed.';
COMMENT ON COLUMN ferry.alert_rule_versions.valid_to IS 'When it was first observed to be changed or gone; null while it is current.';
COMMENT ON COLUMN ferry.alert_rule_versions.opened_by_run IS 'The run (sync_runs.id) that observed this version first.';
COMMENT ON COLUMN ferry.alert_rule_versions.closed_by_run IS 'The run that observed its end; null while it is current.';
COMMENT ON COLUMN ferry.alert_rule_versions.fingerprint IS 'Hash of the definition, triggered left out. Same content, same fingerprint, whatever the order of keys.';
COMMENT ON COLUMN ferry.alert_rule_versions.flags IS 'Fields that break the platform''s own rules (timezone, cron_pattern); null if none does.';
COMMENT ON COLUMN ferry.alert_rule_versions.altered IS 'Fields whose text held a character that Postgres cannot store (U+0000, lone surrogates), which Ferry replaced by a visible one; null if there was none.';
COMMENT ON COLUMN ferry.alert_rule_versions.appeared IS 'How the rule appeared, if nobody is known to have added it when the version began. first reading: its folder was listed completely for the first time (by this key). unexplained: created_at does not say that the rule was created since the listing before; it became visible, moved here or came back. Null: it was added or changed then.';
COMMENT ON COLUMN ferry.alert_rule_versions.words IS 'What the list of rules is searched by: the name and the labels in lower case, cut; null if the version has ended.';
COMMENT ON COLUMN ferry.alert_rule_versions.team IS 'The team that owns the rule, by its labels: the first of team, owner and squad that is not empty, in any case; 100 characters at most. Null if there is none. Ferry computes it.';

COMMENT ON TABLE ferry.mcp_server_versions IS 'Every version of every MCP server ever observed. A row holds from valid_from until valid_to; the current one has no valid_to. Intervals of one server never overlap. Columns bear the platform''s own field names.';
COMMENT ON COLUMN ferry.mcp_server_versions.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.mcp_server_versions.valid_from IS 'When this version was first observed.';
COMMENT ON COLUMN ferry.mcp_server_versions.valid_to IS 'When it was first observed to be changed or gone; null while it is current.';
COMMENT ON COLUMN ferry.mcp_server_versions.opened_by_run IS 'The run (sync_runs.id) that observed this version first.';
COMMENT ON COLUMN ferry.mcp_server_versions.closed_by_run IS 'The run that observed its end; null while it is current.';
COMMENT ON COLUMN ferry.mcp_server_versions.fingerprint IS 'Hash of the definition. Same content, same fingerprint, whatever the order of keys.';
COMMENT ON COLUMN ferry.mcp_server_versions.flags IS 'Fields that break the platform''s own rules; null if none does.';
COMMENT ON COLUMN ferry.mcp_server_versions.altered IS 'Fields whose text held a character that Postgres cannot store (U+0000, lone surrogates), which Ferry replaced by a visible one; null if there was none.';
COMMENT ON COLUMN ferry.mcp_server_versions.appeared IS 'How the server appeared, if nobody is known to have added it when the version began: first reading, unexplained, or null, as in alert_rule_versions.appeared.';

COMMENT ON TABLE ferry.alert_rule_firings IS 'Episodes in which a rule had an active alert, as observed by the runs. An alert that began and ended between two runs is not recorded.';
COMMENT ON COLUMN ferry.alert_rule_firings.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.alert_rule_firings.id IS 'The rule''s id on the platform (uint64).';
COMMENT ON COLUMN ferry.alert_rule_firings.began IS 'When the alert was first observed.';
COMMENT ON COLUMN ferry.alert_rule_firings.ended IS 'When it was first observed to be over, or the rule to be gone; null while it fires.';
COMMENT ON COLUMN ferry.alert_rule_firings.began_run IS 'The run (sync_runs.id) that observed the beginning.';
COMMENT ON COLUMN ferry.alert_rule_firings.ended_run IS 'The run that observed the end; null while it fires.';

COMMENT ON TABLE ferry.removal_holds IS 'Removals that wait for a person, because they are suspiciously many: see `ferry runs approve`. At most one open hold for each account and resource.';
COMMENT ON COLUMN ferry.removal_holds.id IS 'The hold''s number.';
COMMENT ON COLUMN ferry.removal_holds.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.removal_holds.resource IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.removal_holds.opened_by_run IS 'The run that held the removals.';
COMMENT ON COLUMN ferry.removal_holds.last_run IS 'The latest run that found them missing.';
COMMENT ON COLUMN ferry.removal_holds.ids IS 'The ids that would have been removed.';
COMMENT ON COLUMN ferry.removal_holds.since_runs IS 'For each of the ids, in their order, the run since which its removal has been held without a break.';
COMMENT ON COLUMN ferry.removal_holds.partly_approved IS 'Whether it waits for a person, however few of its rows are still missing. All do; a worker of 0.2.0 asks for it.';
COMMENT ON COLUMN ferry.removal_holds.opened_at IS 'When the hold was opened.';
COMMENT ON COLUMN ferry.removal_holds.ended_at IS 'When it ended; null while it waits.';
COMMENT ON COLUMN ferry.removal_holds.outcome IS 'How it ended: approved (they were removed), voided (a later complete listing had its rows again, or a run held rows of other folders) or rejected (a person said that they are not gone).';
COMMENT ON COLUMN ferry.removal_holds.rejected_by IS 'Who rejected it: user and host.';
COMMENT ON COLUMN ferry.removal_holds.rejected_ids IS 'Of a rejected hold, the ids that are kept although they are still absent. Each complete listing takes out those it has again.';

COMMENT ON TABLE ferry.quarantined_rows IS 'Rows that the platform delivered and that could not be applied. A row is stored when it is first met or has changed, and holds until a later run does not meet it any more. If there are very many, a run stores the first ones and counts the rest. The last good version of such a row stays current.';
COMMENT ON COLUMN ferry.quarantined_rows.run_id IS 'The run (sync_runs.id) that met the row first, as it is here.';
COMMENT ON COLUMN ferry.quarantined_rows.position IS 'Where the row stood in the listing of that run, from 0.';
COMMENT ON COLUMN ferry.quarantined_rows.id IS 'The row''s id as text; null if it cannot be read.';
COMMENT ON COLUMN ferry.quarantined_rows.reason IS 'Why the row was set aside.';
COMMENT ON COLUMN ferry.quarantined_rows.raw IS 'The row as delivered, declared fields only; null if it is no object, is longer than 1 MiB, or repeats a row of another folder.';
COMMENT ON COLUMN ferry.quarantined_rows.fingerprint IS 'A hash of id, reason and row, by which later runs recognise it.';
COMMENT ON COLUMN ferry.quarantined_rows.until_run IS 'The first later run of the same scope that did not meet the row in this form; null if it still holds.';

COMMENT ON TABLE ferry.contract_drift IS 'Fields that the platform sends and its documentation does not name. Only names and types are stored, never values: they may hold secrets.';
COMMENT ON COLUMN ferry.contract_drift.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.contract_drift.resource IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.contract_drift.field IS 'The field''s name.';
COMMENT ON COLUMN ferry.contract_drift.type IS 'Its JSON type.';
COMMENT ON COLUMN ferry.contract_drift.first_run IS 'The run that first saw it.';
COMMENT ON COLUMN ferry.contract_drift.first_seen_at IS 'When it was first seen.';

COMMENT ON TABLE ferry.seen_values IS 'The values that were ever seen in fields of which the contract names some values only (transport, status and auth_mode of MCP servers, ds_type of rules): the first 100 of each account and field.';
COMMENT ON COLUMN ferry.seen_values.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.seen_values.resource IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.seen_values.field IS 'The field''s name.';
COMMENT ON COLUMN ferry.seen_values.value IS 'The value, of a long one its first 200 characters.';
COMMENT ON COLUMN ferry.seen_values.first_run IS 'The run that first saw it.';
COMMENT ON COLUMN ferry.seen_values.is_news IS 'Whether it was reported: false for what a first reading found.';
COMMENT ON COLUMN ferry.seen_values.first_seen_at IS 'When it was first seen.';

COMMENT ON TABLE ferry.platform_accounts IS 'Which of the platform''s accounts each configured account was seen to read. Two names with one account_id share its limits: give them one limitGroup.';
COMMENT ON COLUMN ferry.platform_accounts.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.platform_accounts.account_id IS 'The platform''s id of the account (uint64).';
COMMENT ON COLUMN ferry.platform_accounts.first_run IS 'The run that saw it first.';

COMMENT ON TABLE ferry.snapshots IS 'Named moments, for example nights. A snapshot is a moment in the history of versions, not a copy: read it with alert_rules_as_of(taken_at) and mcp_servers_as_of(taken_at).';
COMMENT ON COLUMN ferry.snapshots.id IS 'The snapshot''s number, as `ferry snapshots diff` takes it.';
COMMENT ON COLUMN ferry.snapshots.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.snapshots.slot IS 'The scheduled time it was due at; null if taken by hand.';
COMMENT ON COLUMN ferry.snapshots.taken_at IS 'The moment it stands for.';
COMMENT ON COLUMN ferry.snapshots.status IS 'succeeded, or the status of the worse of its two runs: partial or held.';
COMMENT ON COLUMN ferry.snapshots.alert_rules_run IS 'The run (sync_runs.id) that read the alert rules.';
COMMENT ON COLUMN ferry.snapshots.mcp_servers_run IS 'The run that read the MCP servers.';

COMMENT ON TABLE ferry.history IS 'From when on the history is complete. No row for as long as nothing of it was removed for its age.';
COMMENT ON COLUMN ferry.history.only IS 'Always true: there is at most one row.';
COMMENT ON COLUMN ferry.history.starts_at IS 'Versions and firings that ended before may have been removed. -infinity if none have been.';
COMMENT ON COLUMN ferry.history.runs_start_at IS 'Runs that changed nothing and finished before may have been removed: reports look no farther back for what was not read. Null if none have been.';
