-- A rule that differs has a version that began or ended between the two instants, so only such versions are read. They are
-- sorted by id first: to compare their accounts first would take twice as long.
CREATE OR REPLACE FUNCTION ferry_internal.alert_rules_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), change text, first_reading boolean, old ferry.alert_rule_versions, new ferry.alert_rule_versions
) LANGUAGE sql STABLE AS $$
  SELECT c.account, c.id, d.change, d.first_reading, d.old, d.new
  FROM (
    SELECT v.id, v.account FROM ferry.alert_rule_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.id, v.account FROM ferry.alert_rule_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  CROSS JOIN LATERAL ferry_internal.compare_alert_rule(c.account, c.id, $1, $2) d
$$;

COMMENT ON FUNCTION ferry_internal.alert_rules_between IS 'The alert rules that differ between two instants, as compare_alert_rule reports them, whatever happened in between.';
