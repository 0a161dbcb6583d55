CREATE OR REPLACE FUNCTION ferry.mcp_tools_of_night(night date)
RETURNS TABLE (
  account text, tool text, server_id text, server_name text, team_id numeric(20, 0), status text, description text, servers integer
) LANGUAGE sql STABLE AS $$
  SELECT s.account, t.tool ->> 'name' AS tool, s.server_id, s.server_name, s.team_id, s.status, t.tool ->> 'description',
    (count(*) OVER same_name)::int
  FROM ferry.mcp_servers_of_night($1) s CROSS JOIN LATERAL jsonb_array_elements(s.tools) WITH ORDINALITY AS t (tool, position)
  WINDOW same_name AS (PARTITION BY s.account, t.tool ->> 'name')
  ORDER BY s.account, t.tool ->> 'name', s.server_name, s.server_id, t.position
$$;

COMMENT ON FUNCTION ferry.mcp_tools_of_night IS 'The view mcp_tools, as the snapshots of a night show it.';
