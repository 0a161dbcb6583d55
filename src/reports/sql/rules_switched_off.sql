-- A rule is off since its last enabled version ended, or since the rule was first seen.
CREATE OR REPLACE VIEW ferry.rules_switched_off AS
  SELECT v.account, v.id, v.name, v.folder_id, v.team, f.since, clock_timestamp() - f.since AS off_for,
    CASE WHEN o.valid_to IS NOT NULL THEN o.valid_to = f.since WHEN f.since >= (SELECT ferry.history_start()) THEN false END AS switch_seen, f.updater_id, f.updater_name
  FROM ferry.alert_rule_versions v
  LEFT JOIN LATERAL (
    SELECT o.valid_to FROM ferry.alert_rule_versions o
    WHERE o.id = v.id AND o.account = v.account AND o.valid_from < v.valid_from AND o.enabled
    ORDER BY o.valid_from DESC LIMIT 1
  ) o ON true
  LEFT JOIN LATERAL (
    -- Nothing to look up if the current version is the first one that is off.
    SELECT s.valid_from, s.updater_id, s.updater_name FROM ferry.alert_rule_versions s
    WHERE s.id = v.id AND s.account = v.account AND s.valid_from >= coalesce(o.valid_to, '-infinity')
      AND v.valid_from > coalesce(o.valid_to, '-infinity')
    ORDER BY s.valid_from LIMIT 1
  ) s ON true
  CROSS JOIN LATERAL (
    SELECT coalesce(s.valid_from, v.valid_from) AS since,
      CASE WHEN s.valid_from IS NULL THEN v.updater_id ELSE s.updater_id END AS updater_id,
      CASE WHEN s.valid_from IS NULL THEN v.updater_name ELSE s.updater_name END AS updater_name
  ) f
  WHERE v.valid_to IS NULL AND NOT v.enabled
  ORDER BY f.since DESC, v.account, v.id;

COMMENT ON VIEW ferry.rules_switched_off IS 'The current alert rules that are disabled, most recent first: since when, and who had last edited them at that time.';
SELECT ferry_internal.describe_columns('ferry.rules_switched_off', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_switched_off.since IS 'Since when it has been disabled, as observed.';
COMMENT ON COLUMN ferry.rules_switched_off.off_for IS 'How long it has been disabled.';
COMMENT ON COLUMN ferry.rules_switched_off.switch_seen IS 'Whether Ferry saw it being disabled. If not, it was disabled when the rule was first seen, or seen again after it had been removed. Null: unknown, because the history before history_start() was pruned; then it may have been disabled earlier.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_id IS 'Who had last edited the rule at that time, according to the platform.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_name IS 'The name of that person.';
