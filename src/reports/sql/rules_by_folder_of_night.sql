-- The costs are those of alert_rules_of_night. Its rows are counted as they come: sorting them takes twice as long.
CREATE OR REPLACE FUNCTION ferry.rules_by_folder_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), rules integer, enabled integer, disabled integer, firing integer,
  debug_log_enabled integer, unowned integer
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_indexscan = off SET enable_sort = off SET work_mem = '32MB' AS $$
  SELECT v.account, v.folder_id, count(*)::int AS rules, (count(*) FILTER (WHERE v.enabled))::int,
    (count(*) FILTER (WHERE NOT v.enabled))::int, (count(*) FILTER (WHERE v.triggered))::int,
    (count(*) FILTER (WHERE v.debug_log_enabled))::int, (count(*) FILTER (WHERE v.team IS NULL))::int
  FROM ferry.alert_rules_of_night($1) v
  GROUP BY v.account, v.folder_id
  ORDER BY rules DESC, v.account, v.folder_id
$$;

COMMENT ON FUNCTION ferry.rules_by_folder_of_night IS 'The view rules_by_folder, as the snapshots of a night show it.';
