CREATE OR REPLACE FUNCTION ferry.changes_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, inventory text, change text, id text, name text, folder_id numeric(20, 0), updater_name text, before jsonb, after jsonb,
  first_reading boolean
) LANGUAGE sql STABLE AS $$
  SELECT c.account, 'alert-rules', c.change, c.id::text, coalesce((c.new).name, (c.old).name), coalesce((c.new).folder_id, (c.old).folder_id),
    (c.new).updater_name, d.before, d.after, c.first_reading
  FROM ferry_internal.alert_rules_between($1, $2) c
  LEFT JOIN LATERAL ferry_internal.alert_rule_differences(c.old, c.new) d ON true
  WHERE ferry_internal.expect_history(least($1, $2))
  UNION ALL
  SELECT c.account, 'mcp-servers', c.change, c.server_id, coalesce((c.new).server_name, (c.old).server_name), NULL, NULL,
    d.before, d.after, c.first_reading
  FROM ferry_internal.mcp_servers_between($1, $2) c
  LEFT JOIN LATERAL ferry_internal.mcp_server_differences(c.old, c.new) d ON true
  WHERE ferry_internal.expect_history(least($1, $2))
$$;

COMMENT ON FUNCTION ferry.changes_between IS 'What was added, changed and removed in both inventories between two instants: one row for each rule and server that differs, whatever happened in between. Raises an error if the history starts later. before and after: the fields that differ, of a change. updater_name: who last edited the rule before the second instant. first_reading: it was found by a first reading, so nobody added it in that time.';
