-- Finds the rules in the index of current rules alone, then reads them.
CREATE OR REPLACE VIEW ferry.rules_unowned AS
  SELECT v.account, v.folder_id, v.id, v.name, v.enabled, v.labels, v.creator_name, v.updater_name
  FROM ferry.alert_rule_versions c
  JOIN ferry.alert_rule_versions v ON v.id = c.id AND v.account = c.account AND v.valid_to IS NULL
  WHERE c.valid_to IS NULL AND c.team IS NULL
  ORDER BY account, folder_id, name, id;

COMMENT ON VIEW ferry.rules_unowned IS 'The current alert rules whose labels name no team, owner or squad, by folder.';
SELECT ferry_internal.describe_columns('ferry.rules_unowned', 'ferry.alert_rule_versions');
