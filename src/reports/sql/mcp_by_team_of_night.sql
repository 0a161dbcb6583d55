CREATE OR REPLACE FUNCTION ferry.mcp_by_team_of_night(night date)
RETURNS TABLE (
  account text, team_id numeric(20, 0), servers integer, enabled integer, tools integer, shared integer, last_change timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT s.account, s.team_id, count(*)::int AS servers, (count(*) FILTER (WHERE s.status = 'enabled'))::int,
    sum(jsonb_array_length(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END))::int,
    (count(*) FILTER (WHERE s.auth_mode = 'shared'))::int, max(s.valid_from)
  FROM ferry.mcp_servers_of_night($1) s
  GROUP BY s.account, s.team_id
  ORDER BY servers DESC, s.account, s.team_id
$$;

COMMENT ON FUNCTION ferry.mcp_by_team_of_night IS 'The view mcp_by_team, as the snapshots of a night show it.';
