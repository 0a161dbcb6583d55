CREATE OR REPLACE VIEW ferry.mcp_server_changes AS
  SELECT v.account, v.server_id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.server_name,
    CASE WHEN p.server_id IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after
  FROM ferry.mcp_server_versions v
  LEFT JOIN LATERAL (
    SELECT * FROM ferry.mcp_server_versions p
    WHERE p.server_id = v.server_id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(key, b.value) AS before, jsonb_object_agg(key, a.value) AS after
    FROM jsonb_each(to_jsonb(p)) b JOIN jsonb_each(to_jsonb(v)) a USING (key)
    WHERE a.value <> b.value AND key <> ALL (
      '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered}'::text[])
  ) d ON p.server_id IS NOT NULL
  WHERE v.valid_from >= (SELECT ferry.history_start())
  UNION ALL
  SELECT v.account, v.server_id, v.valid_to, v.closed_by_run, v.server_name, 'removed', NULL, NULL
  FROM ferry.mcp_server_versions v
  WHERE v.valid_to >= (SELECT ferry.history_start()) AND NOT EXISTS (
    SELECT FROM ferry.mcp_server_versions n WHERE n.server_id = v.server_id AND n.account = v.account AND n.valid_from = v.valid_to
  );

COMMENT ON VIEW ferry.mcp_server_changes IS 'What happened to MCP servers: one row for every addition, change, removal and return, from history_start() on. What returns after its earlier versions were removed is added.';
SELECT ferry.describe_columns('ferry.mcp_server_changes', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_server_changes.observed_at IS 'When it was observed.';
COMMENT ON COLUMN ferry.mcp_server_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.mcp_server_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.mcp_server_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.mcp_server_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
--> statement-breakpoint
-- A rule that differs has a version that began or ended between the two instants, so only such versions are read. The
-- fields of rules are compared one by one: a version as jsonb would take ten times as long.
CREATE OR REPLACE FUNCTION ferry.changes_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, inventory text, change text, id text, name text, folder_id numeric(20, 0), updater_name text, before jsonb, after jsonb
) LANGUAGE sql STABLE AS $$
  SELECT c.account, 'alert-rules', CASE WHEN o.id IS NULL THEN 'added' WHEN n.id IS NULL THEN 'removed' ELSE 'changed' END,
    c.id::text, coalesce(n.name, o.name), coalesce(n.folder_id, o.folder_id), n.updater_name,
    d.before, d.after
  FROM (
    SELECT v.account, v.id FROM ferry.alert_rule_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.account, v.id FROM ferry.alert_rule_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.alert_rule_versions v WHERE v.id = c.id AND v.account = c.account AND v.valid_from <= $1
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $1
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.alert_rule_versions v WHERE v.id = c.id AND v.account = c.account AND v.valid_from <= $2
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $2
  ) n ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(f.key, f.before) AS before, jsonb_object_agg(f.key, f.after) AS after
    FROM (VALUES
      ('account_id', to_jsonb(o.account_id), to_jsonb(n.account_id), o.account_id IS DISTINCT FROM n.account_id),
      ('folder_id', to_jsonb(o.folder_id), to_jsonb(n.folder_id), o.folder_id IS DISTINCT FROM n.folder_id),
      ('name', to_jsonb(o.name), to_jsonb(n.name), o.name IS DISTINCT FROM n.name),
      ('labels', to_jsonb(o.labels), to_jsonb(n.labels), o.labels IS DISTINCT FROM n.labels),
      ('ds_type', to_jsonb(o.ds_type), to_jsonb(n.ds_type), o.ds_type IS DISTINCT FROM n.ds_type),
      ('enabled', to_jsonb(o.enabled), to_jsonb(n.enabled), o.enabled IS DISTINCT FROM n.enabled),
      ('debug_log_enabled', to_jsonb(o.debug_log_enabled), to_jsonb(n.debug_log_enabled), o.debug_log_enabled IS DISTINCT FROM n.debug_log_enabled),
      ('cron_pattern', to_jsonb(o.cron_pattern), to_jsonb(n.cron_pattern), o.cron_pattern IS DISTINCT FROM n.cron_pattern),
      ('timezone', to_jsonb(o.timezone), to_jsonb(n.timezone), o.timezone IS DISTINCT FROM n.timezone),
      ('delay_seconds', to_jsonb(o.delay_seconds), to_jsonb(n.delay_seconds), o.delay_seconds IS DISTINCT FROM n.delay_seconds),
      ('creator_id', to_jsonb(o.creator_id), to_jsonb(n.creator_id), o.creator_id IS DISTINCT FROM n.creator_id),
      ('creator_name', to_jsonb(o.creator_name), to_jsonb(n.creator_name), o.creator_name IS DISTINCT FROM n.creator_name),
      ('updater_id', to_jsonb(o.updater_id), to_jsonb(n.updater_id), o.updater_id IS DISTINCT FROM n.updater_id),
      ('updater_name', to_jsonb(o.updater_name), to_jsonb(n.updater_name), o.updater_name IS DISTINCT FROM n.updater_name),
      ('created_at', to_jsonb(o.created_at), to_jsonb(n.created_at), o.created_at IS DISTINCT FROM n.created_at),
      ('updated_at', to_jsonb(o.updated_at), to_jsonb(n.updated_at), o.updated_at IS DISTINCT FROM n.updated_at)
    ) AS f (key, before, after, differs)
    WHERE f.differs
  ) d ON o.id IS NOT NULL AND n.id IS NOT NULL
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint AND ferry.expect_history(least($1, $2))
  UNION ALL
  SELECT c.account, 'mcp-servers', CASE WHEN o.server_id IS NULL THEN 'added' WHEN n.server_id IS NULL THEN 'removed' ELSE 'changed' END,
    c.server_id, coalesce(n.server_name, o.server_name), NULL, NULL,
    d.before, d.after
  FROM (
    SELECT v.account, v.server_id FROM ferry.mcp_server_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.account, v.server_id FROM ferry.mcp_server_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.mcp_server_versions v WHERE v.server_id = c.server_id AND v.account = c.account AND v.valid_from <= $1
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $1
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.mcp_server_versions v WHERE v.server_id = c.server_id AND v.account = c.account AND v.valid_from <= $2
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $2
  ) n ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(x.key, x.value) AS before, jsonb_object_agg(x.key, y.value) AS after
    FROM jsonb_each(to_jsonb(o)) x JOIN jsonb_each(to_jsonb(n)) y ON y.key = x.key
    WHERE x.value <> y.value AND x.key <> ALL (
      '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered}'::text[])
  ) d ON o.server_id IS NOT NULL AND n.server_id IS NOT NULL
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint AND ferry.expect_history(least($1, $2))
$$;

COMMENT ON FUNCTION ferry.changes_between IS 'What was added, changed and removed in both inventories from one instant to another: one row for each rule and server that differs, whatever happened between. Raises an error if the history starts later. before and after: the fields that differ, of a change. updater_name: who had updated the rule last at the second instant.';
--> statement-breakpoint
-- One row for each addition, change, removal and return of a rule. `before` and `after` hold the fields that differ. Each
-- version looks up the version before it, so that a condition on the rule or on the time reaches the index. Before the
-- history starts nobody knows whether a version had one before it.
CREATE OR REPLACE VIEW ferry.alert_rule_changes AS
  SELECT v.account, v.id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.name,
    CASE WHEN p.id IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after, v.updater_id, v.updater_name
  FROM ferry.alert_rule_versions v
  LEFT JOIN LATERAL (
    SELECT * FROM ferry.alert_rule_versions p
    WHERE p.id = v.id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p ON true
  LEFT JOIN LATERAL (
    -- Field by field: a version as jsonb would take ten times as long.
    SELECT jsonb_object_agg(f.key, f.before) AS before, jsonb_object_agg(f.key, f.after) AS after
    FROM (VALUES
      ('account_id', to_jsonb(p.account_id), to_jsonb(v.account_id), p.account_id IS DISTINCT FROM v.account_id),
      ('folder_id', to_jsonb(p.folder_id), to_jsonb(v.folder_id), p.folder_id IS DISTINCT FROM v.folder_id),
      ('name', to_jsonb(p.name), to_jsonb(v.name), p.name IS DISTINCT FROM v.name),
      ('labels', to_jsonb(p.labels), to_jsonb(v.labels), p.labels IS DISTINCT FROM v.labels),
      ('ds_type', to_jsonb(p.ds_type), to_jsonb(v.ds_type), p.ds_type IS DISTINCT FROM v.ds_type),
      ('enabled', to_jsonb(p.enabled), to_jsonb(v.enabled), p.enabled IS DISTINCT FROM v.enabled),
      ('debug_log_enabled', to_jsonb(p.debug_log_enabled), to_jsonb(v.debug_log_enabled), p.debug_log_enabled IS DISTINCT FROM v.debug_log_enabled),
      ('cron_pattern', to_jsonb(p.cron_pattern), to_jsonb(v.cron_pattern), p.cron_pattern IS DISTINCT FROM v.cron_pattern),
      ('timezone', to_jsonb(p.timezone), to_jsonb(v.timezone), p.timezone IS DISTINCT FROM v.timezone),
      ('delay_seconds', to_jsonb(p.delay_seconds), to_jsonb(v.delay_seconds), p.delay_seconds IS DISTINCT FROM v.delay_seconds),
      ('creator_id', to_jsonb(p.creator_id), to_jsonb(v.creator_id), p.creator_id IS DISTINCT FROM v.creator_id),
      ('creator_name', to_jsonb(p.creator_name), to_jsonb(v.creator_name), p.creator_name IS DISTINCT FROM v.creator_name),
      ('updater_id', to_jsonb(p.updater_id), to_jsonb(v.updater_id), p.updater_id IS DISTINCT FROM v.updater_id),
      ('updater_name', to_jsonb(p.updater_name), to_jsonb(v.updater_name), p.updater_name IS DISTINCT FROM v.updater_name),
      ('created_at', to_jsonb(p.created_at), to_jsonb(v.created_at), p.created_at IS DISTINCT FROM v.created_at),
      ('updated_at', to_jsonb(p.updated_at), to_jsonb(v.updated_at), p.updated_at IS DISTINCT FROM v.updated_at)
    ) AS f (key, before, after, differs)
    WHERE f.differs
  ) d ON p.id IS NOT NULL
  WHERE v.valid_from >= (SELECT ferry.history_start())
  UNION ALL
  SELECT v.account, v.id, v.valid_to, v.closed_by_run, v.name, 'removed', NULL, NULL, NULL, NULL
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to >= (SELECT ferry.history_start()) AND NOT EXISTS (
    SELECT FROM ferry.alert_rule_versions n WHERE n.id = v.id AND n.account = v.account AND n.valid_from = v.valid_to
  );

COMMENT ON VIEW ferry.alert_rule_changes IS 'What happened to alert rules: one row for every addition, change, removal and return, from history_start() on. What returns after its earlier versions were removed is added.';
SELECT ferry.describe_columns('ferry.alert_rule_changes', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rule_changes.observed_at IS 'When it was observed.';
COMMENT ON COLUMN ferry.alert_rule_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.alert_rule_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.alert_rule_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_id IS 'Who changed it, according to the platform; null for a removal.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_name IS 'The name of who changed it; null for a removal.';
