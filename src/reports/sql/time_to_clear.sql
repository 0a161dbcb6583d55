CREATE OR REPLACE FUNCTION ferry.time_to_clear(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, team text, episodes integer, p50 interval, p90 interval, longest interval
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH episodes AS MATERIALIZED (
    SELECT f.account, f.id, f.ended - f.began AS took FROM ferry.alert_rule_firings f
    WHERE f.ended > coalesce($1, now() - interval '7 days') AND f.ended < 'infinity'
  ), rules AS MATERIALIZED (
    SELECT r.account, r.id, v.team
    FROM (SELECT e.account, e.id FROM episodes e GROUP BY e.id, e.account) r
    CROSS JOIN LATERAL (
      SELECT v.team FROM ferry.alert_rule_versions v
      WHERE v.id = r.id AND v.account = r.account ORDER BY v.valid_from DESC LIMIT 1
    ) v
  )
  SELECT e.account, r.team, count(*)::int, percentile_cont(0.5) WITHIN GROUP (ORDER BY e.took),
    percentile_cont(0.9) WITHIN GROUP (ORDER BY e.took), max(e.took)
  FROM episodes e JOIN rules r ON r.id = e.id AND r.account = e.account
  GROUP BY e.account, r.team
  ORDER BY e.account, r.team
$$;

COMMENT ON FUNCTION ferry.time_to_clear IS 'How long the episodes lasted that ended since a time (null: seven days ago), by the team of the rule: half of them at most p50, nine in ten at most p90. A begin and an end are known to one poll, so an episode may have been shorter or longer by one poll interval.';
