-- What every table, view, function and column means, for people who meet them in psql, Metabase or Grafana.
-- docs/schema.md is generated from these words: `npm run docs`.
COMMENT ON SCHEMA ferry IS 'Ferry: the inventory of an incident-management platform, with its history.';
--> statement-breakpoint
COMMENT ON TABLE ferry.alert_rule_versions IS 'Every version of every alert rule ever observed. A row holds from valid_from until valid_to; the current one has no valid_to. Intervals of one rule never overlap. Columns bear the platform''s own field names.';
COMMENT ON COLUMN ferry.alert_rule_versions.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.alert_rule_versions.id IS 'The rule''s id on the platform (uint64).';
COMMENT ON COLUMN ferry.alert_rule_versions.valid_from IS 'When this version was first observed.';
COMMENT ON COLUMN ferry.alert_rule_versions.valid_to IS 'When it was first observed to be changed or gone; null while it is current.';
COMMENT ON COLUMN ferry.alert_rule_versions.opened_by_run IS 'The run (sync_runs.id) that observed this version first.';
COMMENT ON COLUMN ferry.alert_rule_versions.closed_by_run IS 'The run that observed its end; null while it is current.';
COMMENT ON COLUMN ferry.alert_rule_versions.fingerprint IS 'Hash of the definition, triggered left out. Same content, same fingerprint, whatever the order of keys.';
COMMENT ON COLUMN ferry.alert_rule_versions.account_id IS 'The platform''s id of the owning account (uint64).';
COMMENT ON COLUMN ferry.alert_rule_versions.folder_id IS 'The folder the rule lies in (uint64).';
COMMENT ON COLUMN ferry.alert_rule_versions.name IS 'The rule''s name.';
COMMENT ON COLUMN ferry.alert_rule_versions.labels IS 'The rule''s labels, a flat object of texts; null if the platform sent none.';
COMMENT ON COLUMN ferry.alert_rule_versions.ds_type IS 'Data source type, for example prometheus. An open set of values.';
COMMENT ON COLUMN ferry.alert_rule_versions.enabled IS 'Whether the rule is switched on.';
COMMENT ON COLUMN ferry.alert_rule_versions.debug_log_enabled IS 'Whether the rule writes a debug log.';
COMMENT ON COLUMN ferry.alert_rule_versions.cron_pattern IS 'When the rule is evaluated, as the platform wrote it.';
COMMENT ON COLUMN ferry.alert_rule_versions.timezone IS 'The IANA zone in which cron_pattern is read; null if the platform sent none. The platform takes an empty one for Asia/Shanghai.';
COMMENT ON COLUMN ferry.alert_rule_versions.delay_seconds IS 'Evaluation delay in seconds.';
COMMENT ON COLUMN ferry.alert_rule_versions.creator_id IS 'Id of the person who created the rule (uint64).';
COMMENT ON COLUMN ferry.alert_rule_versions.creator_name IS 'Name of the person who created the rule.';
COMMENT ON COLUMN ferry.alert_rule_versions.updater_id IS 'Id of the person who changed the rule last (uint64).';
COMMENT ON COLUMN ferry.alert_rule_versions.updater_name IS 'Name of the person who changed the rule last.';
COMMENT ON COLUMN ferry.alert_rule_versions.created_at IS 'When the rule was created, as the platform gave it. Its unit is not documented.';
COMMENT ON COLUMN ferry.alert_rule_versions.updated_at IS 'When the rule was last changed, as the platform gave it. Its unit is not documented.';
COMMENT ON COLUMN ferry.alert_rule_versions.flags IS 'Fields that break the platform''s own rules (timezone, cron_pattern); null if none does.';
COMMENT ON COLUMN ferry.alert_rule_versions.altered IS 'Fields whose text held a character Postgres cannot store (U+0000, lone surrogates) and got a visible stand-in; null if none did.';
--> statement-breakpoint
COMMENT ON TABLE ferry.mcp_server_versions IS 'Every version of every MCP server ever observed. A row holds from valid_from until valid_to; the current one has no valid_to. Intervals of one server never overlap. Columns bear the platform''s own field names.';
COMMENT ON COLUMN ferry.mcp_server_versions.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.mcp_server_versions.server_id IS 'The server''s id on the platform.';
COMMENT ON COLUMN ferry.mcp_server_versions.valid_from IS 'When this version was first observed.';
COMMENT ON COLUMN ferry.mcp_server_versions.valid_to IS 'When it was first observed to be changed or gone; null while it is current.';
COMMENT ON COLUMN ferry.mcp_server_versions.opened_by_run IS 'The run (sync_runs.id) that observed this version first.';
COMMENT ON COLUMN ferry.mcp_server_versions.closed_by_run IS 'The run that observed its end; null while it is current.';
COMMENT ON COLUMN ferry.mcp_server_versions.fingerprint IS 'Hash of the definition. Same content, same fingerprint, whatever the order of keys.';
COMMENT ON COLUMN ferry.mcp_server_versions.account_id IS 'The platform''s id of the owning account (uint64).';
COMMENT ON COLUMN ferry.mcp_server_versions.team_id IS 'The owning team (uint64); 0 appears for an account-level server.';
COMMENT ON COLUMN ferry.mcp_server_versions.can_edit IS 'Whether the owner of the app key may edit the server.';
COMMENT ON COLUMN ferry.mcp_server_versions.server_name IS 'The server''s name.';
COMMENT ON COLUMN ferry.mcp_server_versions.description IS 'What its owners say it does.';
COMMENT ON COLUMN ferry.mcp_server_versions.transport IS 'Transport, for example streamable-http. An open set of values.';
COMMENT ON COLUMN ferry.mcp_server_versions.url IS 'The server''s address.';
COMMENT ON COLUMN ferry.mcp_server_versions.status IS 'For example enabled. An open set of values.';
COMMENT ON COLUMN ferry.mcp_server_versions.connect_timeout IS 'Connection timeout, as the platform gave it. Its unit is not documented.';
COMMENT ON COLUMN ferry.mcp_server_versions.call_timeout IS 'Call timeout, as the platform gave it. Its unit is not documented.';
COMMENT ON COLUMN ferry.mcp_server_versions.tool_count IS 'Number of tools, as the platform counts them.';
COMMENT ON COLUMN ferry.mcp_server_versions.tools IS 'The recorded tools: an array of {name, description}. Not a live probe of the server. One row each in mcp_server_tools.';
COMMENT ON COLUMN ferry.mcp_server_versions.auth_mode IS 'For example shared. An open set of values.';
COMMENT ON COLUMN ferry.mcp_server_versions.created_by IS 'Id of the person who registered the server (uint64).';
COMMENT ON COLUMN ferry.mcp_server_versions.created_at IS 'When the server was registered, as the platform gave it. Its unit is not documented.';
COMMENT ON COLUMN ferry.mcp_server_versions.updated_at IS 'When the server was last changed, as the platform gave it. Its unit is not documented.';
COMMENT ON COLUMN ferry.mcp_server_versions.flags IS 'Fields that break the platform''s own rules; null if none does.';
COMMENT ON COLUMN ferry.mcp_server_versions.altered IS 'Fields whose text held a character Postgres cannot store (U+0000, lone surrogates) and got a visible stand-in; null if none did.';
--> statement-breakpoint
COMMENT ON TABLE ferry.alert_rule_firings IS 'Episodes in which a rule had an active alert, as observed by the runs: an alert that came and went between two runs is not here.';
COMMENT ON COLUMN ferry.alert_rule_firings.began IS 'When the alert was first observed.';
COMMENT ON COLUMN ferry.alert_rule_firings.ended IS 'When it was first observed to be over, or the rule to be gone; null while it fires.';
COMMENT ON COLUMN ferry.alert_rule_firings.began_run IS 'The run (sync_runs.id) that observed the beginning.';
COMMENT ON COLUMN ferry.alert_rule_firings.ended_run IS 'The run that observed the end; null while it fires.';
--> statement-breakpoint
COMMENT ON TABLE ferry.sync_runs IS 'The ledger: one row for every attempt to read an inventory, whatever became of it. One that changed nothing is kept for 90 days.';
COMMENT ON COLUMN ferry.sync_runs.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.sync_runs.id IS 'The run''s number, as `ferry runs show` takes it.';
COMMENT ON COLUMN ferry.sync_runs.resource IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.sync_runs.trigger IS 'What set it off: schedule, manual or catch-up.';
COMMENT ON COLUMN ferry.sync_runs.slot IS 'The scheduled time it was due at; null for a manual run.';
COMMENT ON COLUMN ferry.sync_runs.scope IS 'What was asked for (folders, include_account, a hash of the key): the same rows can be expected only of the same scope.';
COMMENT ON COLUMN ferry.sync_runs.guard IS 'The removal guard the run was under.';
COMMENT ON COLUMN ferry.sync_runs.fingerprint_version IS 'The way fingerprints were computed.';
COMMENT ON COLUMN ferry.sync_runs.status IS 'running; succeeded: everything listed is in Postgres; partial: added and changed, removed nothing; held: removals wait for a person; failed: nothing was applied; skipped: another run was at it.';
COMMENT ON COLUMN ferry.sync_runs.started_at IS 'When the run began.';
COMMENT ON COLUMN ferry.sync_runs.applied_at IS 'When its changes became visible, and the valid_from of the versions it opened; null if it applied nothing.';
COMMENT ON COLUMN ferry.sync_runs.finished_at IS 'When the run ended; null while it runs, or if its worker died and nobody has noticed yet.';
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
COMMENT ON COLUMN ferry.sync_runs.data_hashes IS 'Hashes of the answers'' data: identical ones need no comparing row by row.';
COMMENT ON COLUMN ferry.sync_runs.error_code IS 'The platform''s error code, or one of Ferry''s own; null if all went well.';
COMMENT ON COLUMN ferry.sync_runs.request_id IS 'The platform''s id of the call that failed, for its support.';
COMMENT ON COLUMN ferry.sync_runs.message IS 'What happened and what to do, in words; null if there is nothing to say.';
COMMENT ON COLUMN ferry.sync_runs.lease_token IS 'The fencing token the run worked under.';
--> statement-breakpoint
COMMENT ON TABLE ferry.snapshots IS 'Nights (or other moments) worth naming. A snapshot is a point in time over the versions, not a copy: read it with alert_rules_as_of(taken_at) and mcp_servers_as_of(taken_at).';
COMMENT ON COLUMN ferry.snapshots.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.snapshots.id IS 'The snapshot''s number, as `ferry snapshots diff` takes it.';
COMMENT ON COLUMN ferry.snapshots.slot IS 'The scheduled time it was due at; null if taken by hand.';
COMMENT ON COLUMN ferry.snapshots.taken_at IS 'The moment it stands for.';
COMMENT ON COLUMN ferry.snapshots.status IS 'succeeded, or what ails the worse of its two runs: partial, held.';
COMMENT ON COLUMN ferry.snapshots.alert_rules_run IS 'The run (sync_runs.id) that read the alert rules.';
COMMENT ON COLUMN ferry.snapshots.mcp_servers_run IS 'The run that read the MCP servers.';
--> statement-breakpoint
COMMENT ON TABLE ferry.removal_holds IS 'Removals too many to be believed, waiting for a person: `ferry runs approve`. At most one open hold per account and resource.';
COMMENT ON COLUMN ferry.removal_holds.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.removal_holds.resource IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.removal_holds.id IS 'The hold''s number.';
COMMENT ON COLUMN ferry.removal_holds.opened_by_run IS 'The run that held the removals.';
COMMENT ON COLUMN ferry.removal_holds.last_run IS 'The latest run that found them missing.';
COMMENT ON COLUMN ferry.removal_holds.ids IS 'The ids that would have been removed.';
COMMENT ON COLUMN ferry.removal_holds.opened_at IS 'When the hold was opened.';
COMMENT ON COLUMN ferry.removal_holds.ended_at IS 'When it ended; null while it waits.';
COMMENT ON COLUMN ferry.removal_holds.outcome IS 'How it ended; null while it waits.';
--> statement-breakpoint
COMMENT ON TABLE ferry.quarantined_rows IS 'Rows the platform delivered that could not be applied, one by one. The last good version of such a row stays current.';
COMMENT ON COLUMN ferry.quarantined_rows.run_id IS 'The run (sync_runs.id) that met the row.';
COMMENT ON COLUMN ferry.quarantined_rows.position IS 'Where the row stood in the listing, from 0.';
COMMENT ON COLUMN ferry.quarantined_rows.id IS 'The row''s id as text; null if it cannot be read.';
COMMENT ON COLUMN ferry.quarantined_rows.reason IS 'Why the row was set aside.';
COMMENT ON COLUMN ferry.quarantined_rows.raw IS 'The row as delivered, declared fields only; null if it is no object.';
--> statement-breakpoint
COMMENT ON TABLE ferry.contract_drift IS 'Fields the platform sends that its documentation does not name. Names and types only, never values: they may hold secrets.';
COMMENT ON COLUMN ferry.contract_drift.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.contract_drift.resource IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.contract_drift.field IS 'The field''s name.';
COMMENT ON COLUMN ferry.contract_drift.type IS 'Its JSON type.';
COMMENT ON COLUMN ferry.contract_drift.first_run IS 'The run that met it first.';
COMMENT ON COLUMN ferry.contract_drift.first_seen_at IS 'When it was met first.';
--> statement-breakpoint
COMMENT ON TABLE ferry.platform_accounts IS 'Which of the platform''s accounts each configured account was seen to read. Two names with one account_id share its limits: give them one limitGroup.';
COMMENT ON COLUMN ferry.platform_accounts.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.platform_accounts.account_id IS 'The platform''s id of the account (uint64).';
COMMENT ON COLUMN ferry.platform_accounts.first_run IS 'The run that saw it first.';
--> statement-breakpoint
COMMENT ON TABLE ferry.platform_calls IS 'The call log: one row for every request to the platform. It is the audit trail, and the sliding window that keeps Ferry under the platform''s limits. Kept for 90 days.';
COMMENT ON COLUMN ferry.platform_calls.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.platform_calls.id IS 'The call''s number.';
COMMENT ON COLUMN ferry.platform_calls.limit_key IS 'What the platform counts the call by: an account, a limitGroup, or the hash of an app key.';
COMMENT ON COLUMN ferry.platform_calls.operation IS 'list-alert-rules, list-mcp-servers or import-subscribers.';
COMMENT ON COLUMN ferry.platform_calls.started IS 'When the call got its slot.';
COMMENT ON COLUMN ferry.platform_calls.counted_by IS 'The latest moment at which the platform can have counted it.';
COMMENT ON COLUMN ferry.platform_calls.finished IS 'When the platform''s answer came; null while it is awaited, or if none came (that of a gateway is none).';
COMMENT ON COLUMN ferry.platform_calls.http_status IS 'The answer''s HTTP status; null without an answer.';
COMMENT ON COLUMN ferry.platform_calls.error_code IS 'The platform''s error code, or what went wrong on the way; null if all went well.';
COMMENT ON COLUMN ferry.platform_calls.request_id IS 'The platform''s id of the call, which its support asks for.';
COMMENT ON COLUMN ferry.platform_calls.run_id IS 'The run on whose behalf it was made; null for a call of `ferry doctor`.';
--> statement-breakpoint
COMMENT ON TABLE ferry.platform_limits IS 'One row per limit. Workers lock it to take turns at the call log.';
COMMENT ON COLUMN ferry.platform_limits.limit_key IS 'What the platform counts by: an account, a limitGroup, or the hash of an app key.';
COMMENT ON COLUMN ferry.platform_limits.operation IS 'The operation that is limited.';
COMMENT ON COLUMN ferry.platform_limits.blocked_until IS 'After a 429, no worker calls before this moment; null if there never was one.';
COMMENT ON COLUMN ferry.platform_limits.strikes IS '429s in a row.';
--> statement-breakpoint
COMMENT ON TABLE ferry.leases IS 'Who is at work on what. A lease not renewed runs out, and the work is anybody''s.';
COMMENT ON COLUMN ferry.leases.name IS 'The work, for example sync:default:alert-rules.';
COMMENT ON COLUMN ferry.leases.token IS 'The fencing token: checked in every transaction that applies the work.';
COMMENT ON COLUMN ferry.leases.holder IS 'The host and process at work.';
COMMENT ON COLUMN ferry.leases.acquired_at IS 'When it was taken.';
COMMENT ON COLUMN ferry.leases.expires_at IS 'When it runs out unless renewed.';
--> statement-breakpoint
COMMENT ON TABLE ferry.schedule_slots IS 'Scheduled work: one row per account, schedule and time, however many workers there are. Kept for 30 days.';
COMMENT ON COLUMN ferry.schedule_slots.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.schedule_slots.schedule IS 'The schedule''s name, as `ferry schedules list` shows it.';
COMMENT ON COLUMN ferry.schedule_slots.slot IS 'The time the work was due at, or a person asked for it.';
COMMENT ON COLUMN ferry.schedule_slots.attempts IS 'How often it was begun, without the times it was handed back.';
COMMENT ON COLUMN ferry.schedule_slots.retry_at IS 'From when on a worker may take it, unless the one at it keeps moving this forward; null once it is settled.';
COMMENT ON COLUMN ferry.schedule_slots.done_at IS 'When it was settled; null while it is due.';
COMMENT ON COLUMN ferry.schedule_slots.outcome IS 'What its run came to, or superseded by a later one; null while it is due.';
--> statement-breakpoint
COMMENT ON TABLE ferry.schedule_pauses IS 'Schedules that are paused; no row means not paused.';
COMMENT ON COLUMN ferry.schedule_pauses.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.schedule_pauses.schedule IS 'The schedule''s name.';
COMMENT ON COLUMN ferry.schedule_pauses.paused_at IS 'Since when.';
--> statement-breakpoint
COMMENT ON TABLE ferry.installation IS 'One row: this database as an installation of Ferry.';
COMMENT ON COLUMN ferry.installation.only IS 'Always true: there is one row.';
COMMENT ON COLUMN ferry.installation.id IS 'In the queue''s prefix, so that two databases may share one Redis.';
COMMENT ON COLUMN ferry.installation.created_at IS 'When the database was set up.';
--> statement-breakpoint
COMMENT ON TABLE ferry.migrations IS 'The migrations that have run. Kept by the migrator.';
COMMENT ON COLUMN ferry.migrations.id IS 'The migration''s number.';
COMMENT ON COLUMN ferry.migrations.hash IS 'Hash of its text.';
COMMENT ON COLUMN ferry.migrations.created_at IS 'When it was written, in milliseconds since 1970.';
--> statement-breakpoint
COMMENT ON VIEW ferry.alert_rules IS 'The alert rules there are now.';
COMMENT ON COLUMN ferry.alert_rules.triggered IS 'Whether the rule had an active alert when it was last read.';
COMMENT ON VIEW ferry.mcp_servers IS 'The MCP servers there are now.';
COMMENT ON VIEW ferry.mcp_server_tools IS 'The recorded tools of the MCP servers there are now, one row each.';
COMMENT ON COLUMN ferry.mcp_server_tools.position IS 'Where the tool stands in the server''s list, from 1.';
COMMENT ON COLUMN ferry.mcp_server_tools.name IS 'The tool''s name.';
COMMENT ON COLUMN ferry.mcp_server_tools.description IS 'What the tool does.';
COMMENT ON VIEW ferry.alert_rules_firing IS 'The rules that fire now, and since when.';
COMMENT ON COLUMN ferry.alert_rules_firing.firing_for IS 'How long it has been firing, as observed.';
COMMENT ON VIEW ferry.alert_rule_changes IS 'What happened to alert rules: one row for every addition, change, removal and return.';
COMMENT ON COLUMN ferry.alert_rule_changes.observed_at IS 'When it was observed.';
COMMENT ON COLUMN ferry.alert_rule_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.alert_rule_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.alert_rule_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_id IS 'Who changed it, according to the platform; null for a removal.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_name IS 'The name of who changed it; null for a removal.';
COMMENT ON VIEW ferry.mcp_server_changes IS 'What happened to MCP servers: one row for every addition, change, removal and return.';
--> statement-breakpoint
COMMENT ON FUNCTION ferry.alert_rules_as_of IS 'The alert rules as they were known at a moment; the columns of alert_rules, and valid_to and closed_by_run.';
COMMENT ON FUNCTION ferry.mcp_servers_as_of IS 'The MCP servers as they were known at a moment; the columns of mcp_servers, and valid_to and closed_by_run.';
COMMENT ON FUNCTION ferry.take_slot IS 'Takes a slot in the call log, or says how long to wait. For Ferry itself.';
COMMENT ON FUNCTION ferry.finish_call IS 'Records the end of a call. For Ferry itself.';
--> statement-breakpoint
-- A view's column means what the column of the same name means in the table it comes from.
DO $$
DECLARE
  c record;
BEGIN
  FOR c IN
    SELECT pair.silent, a.attname AS name, col_description(s.attrelid, s.attnum) AS words
    FROM (VALUES
      ('alert_rule_versions', 'alert_rules'), ('alert_rule_versions', 'alert_rule_firings'),
      ('alert_rule_versions', 'alert_rule_changes'), ('alert_rule_versions', 'alert_rules_firing'),
      ('alert_rule_firings', 'alert_rules_firing'), ('mcp_server_versions', 'mcp_servers'),
      ('mcp_server_versions', 'mcp_server_tools'), ('mcp_server_versions', 'mcp_server_changes'),
      ('alert_rule_changes', 'mcp_server_changes')
    ) AS pair (spoken, silent)
    JOIN pg_attribute a ON a.attrelid = format('ferry.%I', pair.silent)::regclass AND a.attnum > 0
    JOIN pg_attribute s ON s.attrelid = format('ferry.%I', pair.spoken)::regclass AND s.attname = a.attname
    WHERE col_description(a.attrelid, a.attnum) IS NULL AND col_description(s.attrelid, s.attnum) IS NOT NULL
  LOOP
    EXECUTE format('COMMENT ON COLUMN ferry.%I.%I IS %L', c.silent, c.name, c.words);
  END LOOP;
END $$;
