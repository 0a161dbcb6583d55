CREATE OR REPLACE VIEW ferry.rules_contract_breaks AS
  SELECT v.account, b.reason, v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM ferry.alert_rule_versions v CROSS JOIN LATERAL unnest(v.flags) AS b (reason)
  WHERE v.valid_to IS NULL AND v.flags IS NOT NULL
  ORDER BY account, reason, folder_id, name, id;

COMMENT ON VIEW ferry.rules_contract_breaks IS 'The current alert rules that break what the platform requires of cron_pattern and timezone: one row for each rule and reason.';
SELECT ferry.describe_columns('ferry.rules_contract_breaks', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_contract_breaks.reason IS 'What it breaks.';
