CREATE OR REPLACE VIEW ferry.rules_default_timezone AS
  SELECT v.account, v.folder_id, v.id, v.name, v.team, v.enabled, v.cron_pattern, v.updater_name
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NULL AND coalesce(v.timezone, '') = ''
  ORDER BY account, folder_id, name, id;

COMMENT ON VIEW ferry.rules_default_timezone IS 'The current alert rules without a time zone, by folder: the platform reads their schedules as Asia/Shanghai.';
SELECT ferry_internal.describe_columns('ferry.rules_default_timezone', 'ferry.alert_rule_versions');
