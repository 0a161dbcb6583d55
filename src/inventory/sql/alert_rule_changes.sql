-- One row for each addition, change, removal and return of a rule. `before` and `after` hold the fields that differ. Each
-- version looks up the version before it, so that a condition on the rule or on the time reaches the index.
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
    SELECT jsonb_object_agg(key, b.value) AS before, jsonb_object_agg(key, a.value) AS after
    FROM jsonb_each(to_jsonb(p)) b JOIN jsonb_each(to_jsonb(v)) a USING (key)
    WHERE a.value <> b.value AND key <> ALL (
      '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,team}'::text[])
  ) d ON p.id IS NOT NULL
  UNION ALL
  SELECT v.account, v.id, v.valid_to, v.closed_by_run, v.name, 'removed', NULL, NULL, NULL, NULL
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NOT NULL AND NOT EXISTS (
    SELECT FROM ferry.alert_rule_versions n WHERE n.id = v.id AND n.account = v.account AND n.valid_from = v.valid_to
  );

COMMENT ON VIEW ferry.alert_rule_changes IS 'What happened to alert rules: one row for every addition, change, removal and return.';
SELECT ferry.describe_columns('ferry.alert_rule_changes', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rule_changes.observed_at IS 'When it was observed.';
COMMENT ON COLUMN ferry.alert_rule_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.alert_rule_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.alert_rule_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_id IS 'Who changed it, according to the platform; null for a removal.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_name IS 'The name of who changed it; null for a removal.';
