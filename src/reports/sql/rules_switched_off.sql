-- A rule is off since its last enabled version ended, or since the rule was first seen.
CREATE OR REPLACE VIEW ferry.rules_switched_off AS
  SELECT v.account, v.id, v.name, v.folder_id, v.team, s.valid_from AS since, clock_timestamp() - s.valid_from AS off_for,
    o.valid_to IS NOT NULL AS switch_seen, s.updater_id, s.updater_name
  FROM ferry.alert_rule_versions c
  JOIN ferry.alert_rule_versions v ON v.id = c.id AND v.account = c.account AND v.valid_to IS NULL
  LEFT JOIN LATERAL (
    SELECT o.valid_to FROM ferry.alert_rule_versions o
    WHERE o.id = v.id AND o.account = v.account AND o.valid_from < v.valid_from AND o.enabled
    ORDER BY o.valid_from DESC LIMIT 1
  ) o ON true
  CROSS JOIN LATERAL (
    SELECT s.valid_from, s.updater_id, s.updater_name FROM ferry.alert_rule_versions s
    WHERE s.id = v.id AND s.account = v.account AND s.valid_from >= coalesce(o.valid_to, '-infinity')
    ORDER BY s.valid_from LIMIT 1
  ) s
  WHERE c.valid_to IS NULL AND NOT c.enabled
  ORDER BY since DESC, account, id;

COMMENT ON VIEW ferry.rules_switched_off IS 'The current alert rules that are disabled, the youngest case first: since when, and who switched them off.';
SELECT ferry.describe_columns('ferry.rules_switched_off', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_switched_off.since IS 'Since when it is disabled, as observed.';
COMMENT ON COLUMN ferry.rules_switched_off.off_for IS 'How long it is disabled.';
COMMENT ON COLUMN ferry.rules_switched_off.switch_seen IS 'Whether Ferry saw it being disabled. If not, it was disabled when the rule was first seen.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_id IS 'Who had updated the rule last at that moment, according to the platform.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_name IS 'The name of that person.';
