-- A server that differs has a version that began or ended between the two instants, so only such versions are read.
CREATE OR REPLACE FUNCTION ferry_internal.mcp_servers_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, server_id text, change text, first_reading boolean, old ferry.mcp_server_versions, new ferry.mcp_server_versions
) LANGUAGE sql STABLE AS $$
  SELECT c.account, c.server_id, d.change, d.first_reading, d.old, d.new
  FROM (
    SELECT v.server_id, v.account FROM ferry.mcp_server_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.server_id, v.account FROM ferry.mcp_server_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  CROSS JOIN LATERAL ferry_internal.compare_mcp_server(c.account, c.server_id, $1, $2) d
$$;

COMMENT ON FUNCTION ferry_internal.mcp_servers_between IS 'The MCP servers that differ between two instants, as compare_mcp_server reports them, whatever happened in between.';
