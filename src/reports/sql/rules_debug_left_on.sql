-- Debug logging is on since the last version without it ended, or since the rule was first seen.
CREATE OR REPLACE VIEW ferry.rules_debug_left_on AS
  SELECT v.account, v.id, v.name, v.folder_id, v.team, v.enabled, s.valid_from AS since, clock_timestamp() - s.valid_from AS on_for,
    CASE WHEN o.valid_to IS NOT NULL THEN o.valid_to = s.valid_from WHEN s.valid_from >= (SELECT ferry.history_start()) THEN false END AS switch_seen, s.updater_id, s.updater_name
  FROM ferry.alert_rule_versions c
  JOIN ferry.alert_rule_versions v ON v.id = c.id AND v.account = c.account AND v.valid_to IS NULL
  LEFT JOIN LATERAL (
    SELECT o.valid_to FROM ferry.alert_rule_versions o
    WHERE o.id = v.id AND o.account = v.account AND o.valid_from < v.valid_from AND NOT o.debug_log_enabled
    ORDER BY o.valid_from DESC LIMIT 1
  ) o ON true
  CROSS JOIN LATERAL (
    SELECT s.valid_from, s.updater_id, s.updater_name FROM ferry.alert_rule_versions s
    WHERE s.id = v.id AND s.account = v.account AND s.valid_from >= coalesce(o.valid_to, '-infinity')
    ORDER BY s.valid_from LIMIT 1
  ) s
  WHERE c.valid_to IS NULL AND c.debug_log_enabled
  ORDER BY since, account, id;

COMMENT ON VIEW ferry.rules_debug_left_on IS 'The current alert rules with debug logging on, longest first: since when, and who had last edited them at that time.';
SELECT ferry_internal.describe_columns('ferry.rules_debug_left_on', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_debug_left_on.since IS 'Since when it has been on, as observed.';
COMMENT ON COLUMN ferry.rules_debug_left_on.on_for IS 'How long it has been on.';
COMMENT ON COLUMN ferry.rules_debug_left_on.switch_seen IS 'Whether Ferry saw it being switched on. If not, it was on when the rule was first seen, or seen again after it had been removed. Null: unknown, because the history before history_start() was pruned; then it may have been on earlier.';
COMMENT ON COLUMN ferry.rules_debug_left_on.updater_id IS 'Who had last edited the rule at that time, according to the platform.';
COMMENT ON COLUMN ferry.rules_debug_left_on.updater_name IS 'The name of that person.';
