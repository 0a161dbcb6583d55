-- A rule that differs has a version that began or ended between the two instants, so only such versions are read. The
-- fields of rules are compared one by one: a version as jsonb would take ten times as long. What only some rows need is asked for in
-- a WHERE: as a condition of the join, it would be looked up for all.
CREATE OR REPLACE FUNCTION ferry.changes_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, inventory text, change text, id text, name text, folder_id numeric(20, 0), updater_name text, before jsonb, after jsonb,
  first_reading boolean
) LANGUAGE sql STABLE AS $$
  SELECT c.account, 'alert-rules', CASE WHEN o.id IS NULL THEN 'added' WHEN n.id IS NULL THEN 'removed' ELSE 'changed' END,
    c.id::text, coalesce(n.name, o.name), coalesce(n.folder_id, o.folder_id), n.updater_name,
    d.before, d.after, coalesce(f.appeared = 'first reading', false)
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
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(f.key, f.before) AS before, jsonb_object_agg(f.key, f.after) AS after
    FROM (VALUES
      ('account_id', to_jsonb(o.account_id), to_jsonb(n.account_id), o.account_id IS DISTINCT FROM n.account_id),
      ('folder_id', to_jsonb(o.folder_id), to_jsonb(n.folder_id), o.folder_id IS DISTINCT FROM n.folder_id),
      ('name', to_jsonb(o.name), to_jsonb(n.name), o.name IS DISTINCT FROM n.name),
      ('labels', to_jsonb(o.labels), to_jsonb(n.labels), o.labels IS DISTINCT FROM n.labels),
      ('ds_type', to_jsonb(o.ds_type), to_jsonb(n.ds_type), o.ds_type IS DISTINCT FROM n.ds_type),
      ('enabled', to_jsonb(o.enabled), to_jsonb(n.enabled), o.enabled IS DISTINCT FROM n.enabled),
      ('debug_log_enabled', to_jsonb(o.debug_log_enabled), to_jsonb(n.debug_log_enabled), o.debug_log_enabled IS DISTINCT FROM n.debug_log_enabled),
      ('cron_pattern', to_jsonb(o.cron_pattern), to_jsonb(n.cron_pattern), o.cron_pattern IS DISTINCT FROM n.cron_pattern),
      ('timezone', to_jsonb(o.timezone), to_jsonb(n.timezone), o.timezone IS DISTINCT FROM n.timezone),
      ('delay_seconds', to_jsonb(o.delay_seconds), to_jsonb(n.delay_seconds), o.delay_seconds IS DISTINCT FROM n.delay_seconds),
      ('creator_id', to_jsonb(o.creator_id), to_jsonb(n.creator_id), o.creator_id IS DISTINCT FROM n.creator_id),
      ('creator_name', to_jsonb(o.creator_name), to_jsonb(n.creator_name), o.creator_name IS DISTINCT FROM n.creator_name),
      ('updater_id', to_jsonb(o.updater_id), to_jsonb(n.updater_id), o.updater_id IS DISTINCT FROM n.updater_id),
      ('updater_name', to_jsonb(o.updater_name), to_jsonb(n.updater_name), o.updater_name IS DISTINCT FROM n.updater_name),
      ('created_at', to_jsonb(o.created_at), to_jsonb(n.created_at), o.created_at IS DISTINCT FROM n.created_at),
      ('updated_at', to_jsonb(o.updated_at), to_jsonb(n.updated_at), o.updated_at IS DISTINCT FROM n.updated_at)
    ) AS f (key, before, after, differs)
    WHERE f.differs
  ) d ON o.id IS NOT NULL AND n.id IS NOT NULL
  LEFT JOIN LATERAL (
    SELECT v.appeared FROM ferry.alert_rule_versions v
    WHERE v.id = c.id AND v.account = c.account AND v.valid_from > $1 AND o.id IS NULL AND $1 < $2
    ORDER BY v.valid_from LIMIT 1
  ) f ON true
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint AND ferry.expect_history(least($1, $2))
  UNION ALL
  SELECT c.account, 'mcp-servers', CASE WHEN o.server_id IS NULL THEN 'added' WHEN n.server_id IS NULL THEN 'removed' ELSE 'changed' END,
    c.server_id, coalesce(n.server_name, o.server_name), NULL, NULL,
    d.before, d.after, coalesce(f.appeared = 'first reading', false)
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
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(x.key, x.value) AS before, jsonb_object_agg(x.key, y.value) AS after
    FROM jsonb_each(to_jsonb(o)) x JOIN jsonb_each(to_jsonb(n)) y ON y.key = x.key
    WHERE x.value <> y.value AND x.key <> ALL (
      '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,appeared}'::text[])
  ) d ON o.server_id IS NOT NULL AND n.server_id IS NOT NULL
  LEFT JOIN LATERAL (
    SELECT v.appeared FROM ferry.mcp_server_versions v
    WHERE v.server_id = c.server_id AND v.account = c.account AND v.valid_from > $1 AND o.server_id IS NULL AND $1 < $2
    ORDER BY v.valid_from LIMIT 1
  ) f ON true
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint AND ferry.expect_history(least($1, $2))
$$;

COMMENT ON FUNCTION ferry.changes_between IS 'What was added, changed and removed in both inventories from one instant to another: one row for each rule and server that differs, whatever happened between. Raises an error if the history starts later. before and after: the fields that differ, of a change. updater_name: who had updated the rule last at the second instant. first_reading: what is added was found by a first reading, so nobody added it in that time.';
