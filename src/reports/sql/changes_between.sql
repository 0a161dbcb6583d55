-- A rule that differs has a version that began or ended between the two instants, so only such versions are read. The
-- differences are computed for the rows and columns that are asked for: Postgres inlines the function.
CREATE OR REPLACE FUNCTION ferry.changes_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, inventory text, change text, id text, name text, folder_id numeric(20, 0), updater_name text, before jsonb, after jsonb
) LANGUAGE sql STABLE AS $$
  SELECT c.account, 'alert-rules', CASE WHEN o.id IS NULL THEN 'added' WHEN n.id IS NULL THEN 'removed' ELSE 'changed' END,
    c.id::text, coalesce(n.name, o.name), coalesce(n.folder_id, o.folder_id), n.updater_name,
    (SELECT jsonb_object_agg(x.key, x.value) FROM jsonb_each(to_jsonb(o)) x
     WHERE n.id IS NOT NULL AND x.value IS DISTINCT FROM to_jsonb(n) -> x.key AND x.key <> ALL (
       '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,team}'::text[])),
    (SELECT jsonb_object_agg(x.key, x.value) FROM jsonb_each(to_jsonb(n)) x
     WHERE o.id IS NOT NULL AND x.value IS DISTINCT FROM to_jsonb(o) -> x.key AND x.key <> ALL (
       '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,team}'::text[]))
  FROM (
    SELECT v.account, v.id FROM ferry.alert_rule_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.account, v.id FROM ferry.alert_rule_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.alert_rule_versions v WHERE v.id = c.id AND v.account = c.account AND v.valid_from <= $1
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $1
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.alert_rule_versions v WHERE v.id = c.id AND v.account = c.account AND v.valid_from <= $2
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $2
  ) n ON true
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint
  UNION ALL
  SELECT c.account, 'mcp-servers', CASE WHEN o.server_id IS NULL THEN 'added' WHEN n.server_id IS NULL THEN 'removed' ELSE 'changed' END,
    c.server_id, coalesce(n.server_name, o.server_name), NULL, NULL,
    (SELECT jsonb_object_agg(x.key, x.value) FROM jsonb_each(to_jsonb(o)) x
     WHERE n.server_id IS NOT NULL AND x.value IS DISTINCT FROM to_jsonb(n) -> x.key AND x.key <> ALL (
       '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered}'::text[])),
    (SELECT jsonb_object_agg(x.key, x.value) FROM jsonb_each(to_jsonb(n)) x
     WHERE o.server_id IS NOT NULL AND x.value IS DISTINCT FROM to_jsonb(o) -> x.key AND x.key <> ALL (
       '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered}'::text[]))
  FROM (
    SELECT v.account, v.server_id FROM ferry.mcp_server_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.account, v.server_id FROM ferry.mcp_server_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.mcp_server_versions v WHERE v.server_id = c.server_id AND v.account = c.account AND v.valid_from <= $1
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $1
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.mcp_server_versions v WHERE v.server_id = c.server_id AND v.account = c.account AND v.valid_from <= $2
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $2
  ) n ON true
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint
$$;

COMMENT ON FUNCTION ferry.changes_between IS 'What was added, changed and removed in both inventories from one instant to another: one row for each rule and server that differs, whatever happened between. before and after: the fields that differ, of a change. updater_name: who had updated the rule last at the second instant.';
