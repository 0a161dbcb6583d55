-- One row for each addition, change, removal and return of a rule. `before` and `after` hold the fields that differ. Each
-- version looks up the version before it, so that a condition on the rule or on the time reaches the index. Before the
-- history starts nobody knows whether a version had one before it.
CREATE OR REPLACE VIEW ferry.alert_rule_changes AS
  SELECT v.account, v.id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.name,
    CASE WHEN p.id IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after, CASE WHEN v.appeared IS NULL THEN v.updater_id END AS updater_id,
    CASE WHEN v.appeared IS NULL THEN v.updater_name END AS updater_name, coalesce(v.appeared = 'first reading', false) AS first_reading
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
  WHERE v.valid_from >= coalesce((SELECT starts_at FROM ferry.history), '-infinity')
  UNION ALL
  SELECT v.account, v.id, v.valid_to, v.closed_by_run, v.name, 'removed', NULL, NULL, NULL, NULL, false
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to >= coalesce((SELECT starts_at FROM ferry.history), '-infinity') AND NOT EXISTS (
    SELECT FROM ferry.alert_rule_versions n WHERE n.id = v.id AND n.account = v.account AND n.valid_from = v.valid_to
  );

COMMENT ON VIEW ferry.alert_rule_changes IS 'What happened to alert rules: one row for every addition, change, removal and return, from history_start() on. What returns after its earlier versions were removed is added.';
SELECT ferry.describe_columns('ferry.alert_rule_changes', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rule_changes.observed_at IS 'When it was observed. A run under way may still add changes that are later than settled_at().';
COMMENT ON COLUMN ferry.alert_rule_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.alert_rule_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.alert_rule_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_id IS 'Who changed it, according to the platform; null for a removal, and for what appeared without having been created then.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_name IS 'The name of that person.';
COMMENT ON COLUMN ferry.alert_rule_changes.first_reading IS 'Whether the rule was found by a first reading, see alert_rule_versions.appeared: then nobody added it at that moment.';
