CREATE OR REPLACE VIEW ferry.mcp_servers AS
  SELECT v.account, {{mcp-servers v.$field, }}
    v.valid_from, v.opened_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.mcp_server_versions v
  WHERE v.valid_to IS NULL;

COMMENT ON VIEW ferry.mcp_servers IS 'The current MCP servers.';
SELECT ferry_internal.describe_columns('ferry.mcp_servers', 'ferry.mcp_server_versions');
