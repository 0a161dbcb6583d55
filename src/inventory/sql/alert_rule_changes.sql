-- One row for each addition, change, removal and return of a rule. `before` and `after` hold the fields that differ. Each
-- version looks up the version before it, so that a condition on the rule or on the time reaches the index. Before the
-- history starts nobody knows whether a version had one before it.
CREATE OR REPLACE VIEW ferry.alert_rule_changes AS
  SELECT v.account, v.id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.name,
    CASE WHEN p.version IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after, CASE WHEN v.appeared IS NULL THEN v.updater_id END AS updater_id,
    CASE WHEN v.appeared IS NULL THEN v.updater_name END AS updater_name, coalesce(v.appeared = 'first reading', false) AS first_reading
  FROM ferry.alert_rule_versions v
  LEFT JOIN LATERAL (
    SELECT p.valid_to, p AS version FROM ferry.alert_rule_versions p
    WHERE p.id = v.id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p ON true
  LEFT JOIN LATERAL ferry_internal.alert_rule_differences(p.version, v) d ON true
  WHERE v.valid_from >= coalesce((SELECT starts_at FROM ferry.history), '-infinity')
  UNION ALL
  SELECT v.account, v.id, v.valid_to, v.closed_by_run, v.name, 'removed', NULL, NULL, NULL, NULL, false
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to >= coalesce((SELECT starts_at FROM ferry.history), '-infinity') AND NOT EXISTS (
    SELECT FROM ferry.alert_rule_versions n WHERE n.id = v.id AND n.account = v.account AND n.valid_from = v.valid_to
  );

COMMENT ON VIEW ferry.alert_rule_changes IS 'What happened to alert rules: one row for every addition, change, removal and return, from history_start() on. A rule that returns after its earlier versions were pruned counts as added.';
SELECT ferry_internal.describe_columns('ferry.alert_rule_changes', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rule_changes.observed_at IS 'When it was observed. A run under way may still add changes that are later than settled_at().';
COMMENT ON COLUMN ferry.alert_rule_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.alert_rule_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.alert_rule_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_id IS 'Who changed it, according to the platform; null for a removal, and for what appeared without having been created then.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_name IS 'The name of that person.';
COMMENT ON COLUMN ferry.alert_rule_changes.first_reading IS 'Whether the rule was found by a first reading, see alert_rule_versions.appeared; if so, nobody added it at that moment.';
