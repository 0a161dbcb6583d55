-- The index of current rules alone has what is counted here.
CREATE OR REPLACE VIEW ferry.rules_by_folder AS
  SELECT v.account, v.folder_id, count(*)::int AS rules, (count(*) FILTER (WHERE v.enabled))::int AS enabled,
    (count(*) FILTER (WHERE NOT v.enabled))::int AS disabled, count(f.id)::int AS firing,
    (count(*) FILTER (WHERE v.debug_log_enabled))::int AS debug_log_enabled,
    (count(*) FILTER (WHERE v.team IS NULL))::int AS unowned
  FROM ferry.alert_rule_versions v
  LEFT JOIN ferry.alert_rule_firings f ON f.id = v.id AND f.account = v.account AND f.ended IS NULL
  WHERE v.valid_to IS NULL
  GROUP BY v.account, v.folder_id
  ORDER BY rules DESC, account, folder_id;

COMMENT ON VIEW ferry.rules_by_folder IS 'The current alert rules by folder, the largest folder first.';
SELECT ferry_internal.describe_columns('ferry.rules_by_folder', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_by_folder.rules IS 'How many rules are in the folder.';
COMMENT ON COLUMN ferry.rules_by_folder.enabled IS 'How many of them are enabled.';
COMMENT ON COLUMN ferry.rules_by_folder.disabled IS 'How many are disabled.';
COMMENT ON COLUMN ferry.rules_by_folder.firing IS 'How many are firing.';
COMMENT ON COLUMN ferry.rules_by_folder.debug_log_enabled IS 'How many have debug logging on.';
COMMENT ON COLUMN ferry.rules_by_folder.unowned IS 'How many have no team in their labels.';
