-- The costs are those of alert_rules_of_night. Its rows are counted as they come: sorting them takes twice as long.
CREATE OR REPLACE FUNCTION ferry.rules_by_team_of_night(night date)
RETURNS TABLE (
  account text, team text, rules integer, enabled integer, disabled integer, firing integer, debug_log_enabled integer, folders integer
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_indexscan = off SET enable_sort = off SET work_mem = '32MB' AS $$
  SELECT c.account, c.team, sum(c.rules)::int AS rules, sum(c.enabled)::int, (sum(c.rules) - sum(c.enabled))::int,
    sum(c.firing)::int, sum(c.debug_log_enabled)::int, count(*)::int
  FROM (
    SELECT v.account, v.team, v.folder_id, count(*) AS rules, count(*) FILTER (WHERE v.enabled) AS enabled,
      count(*) FILTER (WHERE v.triggered) AS firing, count(*) FILTER (WHERE v.debug_log_enabled) AS debug_log_enabled
    FROM ferry.alert_rules_of_night($1) v
    GROUP BY v.account, v.team, v.folder_id
  ) c
  GROUP BY c.account, c.team
  ORDER BY rules DESC, c.account, c.team
$$;

COMMENT ON FUNCTION ferry.rules_by_team_of_night IS 'The view rules_by_team, as the snapshots of a night show it.';
