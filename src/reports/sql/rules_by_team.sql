-- The index of current rules alone has what is counted here.
CREATE OR REPLACE VIEW ferry.rules_by_team AS
  SELECT c.account, c.team, sum(c.rules)::int AS rules, sum(c.enabled)::int AS enabled,
    (sum(c.rules) - sum(c.enabled))::int AS disabled, sum(c.firing)::int AS firing,
    sum(c.debug_log_enabled)::int AS debug_log_enabled, count(*)::int AS folders
  FROM (
    SELECT v.account, v.team, v.folder_id, count(*) AS rules, count(*) FILTER (WHERE v.enabled) AS enabled,
      count(f.id) AS firing, count(*) FILTER (WHERE v.debug_log_enabled) AS debug_log_enabled
    FROM ferry.alert_rule_versions v
    LEFT JOIN ferry.alert_rule_firings f ON f.id = v.id AND f.account = v.account AND f.ended IS NULL
    WHERE v.valid_to IS NULL
    GROUP BY v.account, v.team, v.folder_id
  ) c
  GROUP BY c.account, c.team
  ORDER BY rules DESC, account, team;

COMMENT ON VIEW ferry.rules_by_team IS 'The current alert rules by the team in their labels, the team with the most rules first; rules without one are under null.';
SELECT ferry_internal.describe_columns('ferry.rules_by_team', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_by_team.rules IS 'How many rules the team has.';
COMMENT ON COLUMN ferry.rules_by_team.enabled IS 'How many of them are enabled.';
COMMENT ON COLUMN ferry.rules_by_team.disabled IS 'How many are disabled.';
COMMENT ON COLUMN ferry.rules_by_team.firing IS 'How many are firing.';
COMMENT ON COLUMN ferry.rules_by_team.debug_log_enabled IS 'How many have debug logging on.';
COMMENT ON COLUMN ferry.rules_by_team.folders IS 'In how many folders they are.';
