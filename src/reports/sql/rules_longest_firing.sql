CREATE OR REPLACE FUNCTION ferry.rules_longest_firing(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, began timestamptz,
  ended timestamptz, fired_for interval
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH longest AS MATERIALIZED (
    SELECT DISTINCT ON (e.id, e.account) e.account, e.id, e.began, e.ended, coalesce(e.ended, clock_timestamp()) - e.began AS fired_for
    FROM (
      SELECT f.account, f.id, f.began, f.ended FROM ferry.alert_rule_firings f
      WHERE f.ended > coalesce($1, now() - interval '7 days') AND f.ended < 'infinity'
      UNION ALL
      SELECT f.account, f.id, f.began, NULL FROM ferry.alert_rule_firings f WHERE f.ended IS NULL
    ) e
    ORDER BY e.id, e.account, fired_for DESC
  )
  SELECT l.account, l.id, v.name, v.folder_id, v.team, l.began, l.ended, l.fired_for
  FROM longest l
  CROSS JOIN LATERAL (
    SELECT v.name, v.folder_id, v.team FROM ferry.alert_rule_versions v
    WHERE v.id = l.id AND v.account = l.account ORDER BY v.valid_from DESC LIMIT 1
  ) v
  ORDER BY l.fired_for DESC, l.account, l.id
$$;

COMMENT ON FUNCTION ferry.rules_longest_firing IS 'The longest episode of each alert rule that fired since a time (null: seven days ago), the longest first; with its whole length, also if it began before. ended is null while it fires.';
