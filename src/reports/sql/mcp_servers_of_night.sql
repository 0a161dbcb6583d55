CREATE OR REPLACE FUNCTION ferry.mcp_servers_of_night(night date)
RETURNS TABLE (
  account text, server_id text, server_name text, team_id numeric(20, 0), status text, auth_mode text, tools jsonb, valid_from timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT s.account, s.server_id, s.server_name, s.team_id, s.status, s.auth_mode, s.tools, s.valid_from
  FROM ferry.snapshots_of_night($1) n CROSS JOIN LATERAL ferry.mcp_servers_as_of(n.taken_at) s
  WHERE s.account = n.account
$$;

COMMENT ON FUNCTION ferry.mcp_servers_of_night IS 'The MCP servers as each account''s snapshot of a night shows them, see ferry.nights; none of an account that has no snapshot of that night. Raises an error if the history starts later.';
