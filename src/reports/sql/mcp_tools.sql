CREATE OR REPLACE VIEW ferry.mcp_tools AS
  SELECT t.account, t.name AS tool, t.server_id, t.server_name, s.team_id, s.status, t.description,
    (count(*) OVER same_name)::int AS servers
  FROM ferry.mcp_server_tools t
  JOIN ferry.mcp_server_versions s ON s.server_id = t.server_id AND s.account = t.account AND s.valid_to IS NULL
  WINDOW same_name AS (PARTITION BY t.account, t.name)
  ORDER BY t.account, t.name, t.server_name, t.server_id, t.position;

COMMENT ON VIEW ferry.mcp_tools IS 'The recorded tools of the current MCP servers by their name: one row for each tool of each server.';
SELECT ferry_internal.describe_columns('ferry.mcp_tools', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_tools.tool IS 'The tool''s name.';
COMMENT ON COLUMN ferry.mcp_tools.description IS 'What the tool does, according to this server.';
COMMENT ON COLUMN ferry.mcp_tools.servers IS 'How many tools of the account have this name.';
