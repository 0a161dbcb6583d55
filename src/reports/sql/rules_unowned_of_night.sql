-- The costs are those of alert_rules_of_night.
CREATE OR REPLACE FUNCTION ferry.rules_unowned_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), id numeric(20, 0), name text, enabled boolean, labels jsonb, creator_name text, updater_name text
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_indexscan = off AS $$
  SELECT v.account, v.folder_id, v.id, v.name, v.enabled, v.labels, v.creator_name, v.updater_name
  FROM ferry.alert_rules_of_night($1) v
  WHERE v.team IS NULL
  ORDER BY v.account, v.folder_id, v.name, v.id
$$;

COMMENT ON FUNCTION ferry.rules_unowned_of_night IS 'The view rules_unowned, as the snapshots of a night show it.';
