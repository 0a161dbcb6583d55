CREATE OR REPLACE VIEW ferry.alert_rules_firing AS
  SELECT f.account, f.id, v.name, v.folder_id, v.labels, f.began, clock_timestamp() - f.began AS firing_for
  FROM ferry.alert_rule_firings f
  LEFT JOIN ferry.alert_rule_versions v ON v.id = f.id AND v.account = f.account AND v.valid_to IS NULL
  WHERE f.ended IS NULL;

COMMENT ON VIEW ferry.alert_rules_firing IS 'The rules that are firing, and since when.';
SELECT ferry_internal.describe_columns('ferry.alert_rules_firing', 'ferry.alert_rule_firings');
SELECT ferry_internal.describe_columns('ferry.alert_rules_firing', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rules_firing.firing_for IS 'How long it has been firing, as observed.';
