CREATE OR REPLACE VIEW ferry.mcp_server_changes AS
  SELECT v.account, v.server_id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.server_name,
    CASE WHEN p.version IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after, coalesce(v.appeared = 'first reading', false) AS first_reading
  FROM ferry.mcp_server_versions v
  LEFT JOIN LATERAL (
    SELECT p.valid_to, p AS version FROM ferry.mcp_server_versions p
    WHERE p.server_id = v.server_id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p ON true
  LEFT JOIN LATERAL ferry_internal.mcp_server_differences(p.version, v) d ON true
  WHERE v.valid_from >= coalesce((SELECT starts_at FROM ferry.history), '-infinity')
  UNION ALL
  SELECT v.account, v.server_id, v.valid_to, v.closed_by_run, v.server_name, 'removed', NULL, NULL, false
  FROM ferry.mcp_server_versions v
  WHERE v.valid_to >= coalesce((SELECT starts_at FROM ferry.history), '-infinity') AND NOT EXISTS (
    SELECT FROM ferry.mcp_server_versions n WHERE n.server_id = v.server_id AND n.account = v.account AND n.valid_from = v.valid_to
  );

COMMENT ON VIEW ferry.mcp_server_changes IS 'What happened to MCP servers: one row for every addition, change, removal and return, from history_start() on. A server that returns after its earlier versions were pruned counts as added.';
SELECT ferry_internal.describe_columns('ferry.mcp_server_changes', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_server_changes.observed_at IS 'When it was observed. A run under way may still add changes that are later than settled_at().';
COMMENT ON COLUMN ferry.mcp_server_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.mcp_server_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.mcp_server_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.mcp_server_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.mcp_server_changes.first_reading IS 'Whether the server was found by a first reading, see mcp_server_versions.appeared; if so, nobody added it at that moment.';
