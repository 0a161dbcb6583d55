CREATE OR REPLACE VIEW ferry.mcp_server_tools AS
  SELECT v.account, v.server_id, v.server_name, t.position, t.tool ->> 'name' AS name,
    t.tool ->> 'description' AS description
  FROM ferry.mcp_server_versions v
  CROSS JOIN LATERAL jsonb_array_elements(v.tools) WITH ORDINALITY AS t (tool, position)
  WHERE v.valid_to IS NULL;

COMMENT ON VIEW ferry.mcp_server_tools IS 'The recorded tools of the current MCP servers, one row each.';
SELECT ferry_internal.describe_columns('ferry.mcp_server_tools', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_server_tools.position IS 'Where the tool stands in the server''s list, from 1.';
COMMENT ON COLUMN ferry.mcp_server_tools.name IS 'The tool''s name.';
COMMENT ON COLUMN ferry.mcp_server_tools.description IS 'What the tool does.';
