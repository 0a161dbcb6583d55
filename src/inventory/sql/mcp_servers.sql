CREATE OR REPLACE VIEW ferry.mcp_servers AS
  SELECT v.account, v.server_id, v.account_id, v.team_id, v.can_edit, v.server_name, v.description, v.transport,
    v.url, v.status, v.connect_timeout, v.call_timeout, v.tool_count, v.tools, v.auth_mode, v.created_by,
    v.created_at, v.updated_at, v.valid_from, v.opened_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.mcp_server_versions v
  WHERE v.valid_to IS NULL;

COMMENT ON VIEW ferry.mcp_servers IS 'The current MCP servers.';
SELECT ferry.describe_columns('ferry.mcp_servers', 'ferry.mcp_server_versions');
