-- Few patterns of enabled rules differ, and each is looked at once.
CREATE OR REPLACE VIEW ferry.rules_contract_breaks AS
  WITH unread AS MATERIALIZED (
    SELECT p.cron_pattern, ferry_internal.cron_unread(p.cron_pattern) AS reason
    FROM (SELECT DISTINCT v.cron_pattern FROM ferry.alert_rule_versions v WHERE v.valid_to IS NULL AND v.enabled) p
  )
  SELECT v.account, b.reason, v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM ferry.alert_rule_versions v CROSS JOIN LATERAL unnest(v.flags) AS b (reason)
  WHERE v.valid_to IS NULL AND v.flags IS NOT NULL
  UNION ALL
  SELECT v.account, u.reason, v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM unread u JOIN ferry.alert_rule_versions v ON v.cron_pattern = u.cron_pattern
  WHERE u.reason IS NOT NULL AND v.valid_to IS NULL AND v.enabled
    AND NOT coalesce(v.flags && '{cron_pattern names a time zone,cron_pattern does not have 5 fields}', false)
  ORDER BY account, reason, folder_id, name, id;

COMMENT ON VIEW ferry.rules_contract_breaks IS 'The current alert rules that break what the platform requires of cron_pattern and timezone, and the enabled ones whose cron_pattern Ferry cannot read, so that cron_load leaves them out: one row for each rule and reason.';
SELECT ferry_internal.describe_columns('ferry.rules_contract_breaks', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_contract_breaks.reason IS 'What it breaks; or that Ferry cannot read its pattern, which may be right for the platform.';
