-- One run at a time: what it observed bears its instant, in indexes. OFFSET 0 keeps the views inside; joined, they would be read whole.
-- seen_in is the folder whose listing had the row before.
CREATE OR REPLACE FUNCTION ferry_internal.observed_by(runs bigint[])
RETURNS TABLE (
  run_id bigint, account text, inventory text, observed_at timestamptz, kind text, id text, name text, folder_id numeric(20, 0),
  team text, labels jsonb, who text, before jsonb, after jsonb, while_firing boolean, seen_in numeric(20, 0)
) LANGUAGE sql STABLE AS $$
  WITH asked AS MATERIALIZED (
    SELECT r.id, r.account, r.resource, r.applied_at, r.added + r.changed + r.removed AS changes, r.fired + r.recovered AS firings
    FROM ferry.sync_runs r WHERE r.id = ANY ($1) AND r.applied_at IS NOT NULL
  )
  SELECT r.id, r.account, r.resource, r.applied_at, 'rule.' || CASE
      WHEN c.change = 'changed' AND c.before ->> 'enabled' = 'true' AND c.after ->> 'enabled' = 'false' THEN 'disabled'
      WHEN c.change = 'changed' AND c.before ->> 'enabled' = 'false' AND c.after ->> 'enabled' = 'true' THEN 'enabled'
      ELSE c.change END,
    c.id::text, c.name, v.folder_id, v.team, v.labels, c.updater_name, c.before, c.after, coalesce(f.is_firing, false),
    coalesce((c.before ->> 'folder_id')::numeric, v.folder_id)
  FROM asked r
  CROSS JOIN LATERAL (
    SELECT * FROM ferry.alert_rule_changes c WHERE c.observed_at = r.applied_at AND c.account = r.account AND NOT c.first_reading OFFSET 0
  ) c
  CROSS JOIN LATERAL (
    SELECT v.folder_id, v.team, v.labels FROM ferry.alert_rule_versions v
    WHERE v.id = c.id AND v.account = c.account AND v.valid_from <= r.applied_at ORDER BY v.valid_from DESC LIMIT 1
  ) v
  LEFT JOIN LATERAL (
    -- What fires in the reading that observed the edit may have begun after it.
    SELECT coalesce(e.ended, 'infinity') >= r.applied_at AS is_firing
    FROM ferry.alert_rule_firings e
    WHERE e.id = c.id AND e.account = c.account AND e.began <= r.applied_at
      AND (e.began < r.applied_at OR c.change IN ('added', 'returned'))
    ORDER BY e.began DESC LIMIT 1
  ) f ON true
  WHERE r.resource = 'alert-rules' AND r.changes > 0
  UNION ALL
  SELECT r.id, r.account, r.resource, r.applied_at, e.kind, e.id::text, v.name, v.folder_id, v.team, v.labels, NULL, NULL, NULL, NULL, v.folder_id
  FROM asked r
  CROSS JOIN LATERAL (
    SELECT 'rule.fired' AS kind, e.id FROM ferry_internal.episodes(r.applied_at - interval '1 microsecond') e
    WHERE e.began = r.applied_at AND e.account = r.account AND e.began_seen
    UNION ALL
    SELECT 'rule.cleared', e.id FROM ferry_internal.episodes(r.applied_at - interval '1 microsecond') e
    WHERE e.ended = r.applied_at AND e.account = r.account AND e.was_cleared
    OFFSET 0
  ) e
  CROSS JOIN LATERAL (
    SELECT v.name, v.folder_id, v.team, v.labels FROM ferry.alert_rule_versions v
    WHERE v.id = e.id AND v.account = r.account AND v.valid_from <= r.applied_at ORDER BY v.valid_from DESC LIMIT 1
  ) v
  WHERE r.resource = 'alert-rules' AND r.firings > 0
  UNION ALL
  SELECT r.id, r.account, r.resource, r.applied_at, 'server.' || c.change, c.server_id, c.server_name, NULL, NULL, NULL, NULL,
    c.before, c.after, NULL, NULL
  FROM asked r
  CROSS JOIN LATERAL (
    SELECT * FROM ferry.mcp_server_changes c WHERE c.observed_at = r.applied_at AND c.account = r.account AND NOT c.first_reading OFFSET 0
  ) c
  WHERE r.resource = 'mcp-servers' AND r.changes > 0
  UNION ALL
  SELECT r.id, r.account, r.resource, r.applied_at, 'tool.' || replace(t.change, 'description ', ''), t.server_id, t.server_name, NULL, NULL, NULL,
    NULL,
    CASE WHEN t.change <> 'added' THEN jsonb_build_object('tool', t.tool, 'description', t.before) END,
    CASE WHEN t.change <> 'removed' THEN jsonb_build_object('tool', t.tool, 'description', t.after) END, NULL, NULL
  FROM asked r
  CROSS JOIN LATERAL (
    SELECT * FROM ferry.mcp_tool_changes(r.applied_at, r.applied_at) t WHERE t.account = r.account OFFSET 0
  ) t
  WHERE r.resource = 'mcp-servers' AND r.changes > 0
$$;

COMMENT ON FUNCTION ferry_internal.observed_by IS 'What these runs (sync_runs.id) observed: changes of rules, servers and tools, and rules that began to fire or cleared; not what a first reading found. For around.';
