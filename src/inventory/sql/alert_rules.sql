CREATE OR REPLACE VIEW ferry.alert_rules AS
  SELECT v.account, {{alert-rules v.$field, }}
    EXISTS (SELECT FROM ferry.alert_rule_firings f
            WHERE f.id = v.id AND f.account = v.account AND f.ended IS NULL) AS triggered,
    v.valid_from, v.opened_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NULL;

COMMENT ON VIEW ferry.alert_rules IS 'The current alert rules.';
SELECT ferry_internal.describe_columns('ferry.alert_rules', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rules.triggered IS 'Whether the rule had an active alert when it was last read.';
