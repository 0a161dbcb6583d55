CREATE OR REPLACE VIEW ferry.mcp_by_team AS
  SELECT s.account, s.team_id, count(*)::int AS servers, (count(*) FILTER (WHERE s.status = 'enabled'))::int AS enabled,
    sum(jsonb_array_length(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END))::int AS tools,
    (count(*) FILTER (WHERE s.auth_mode = 'shared'))::int AS shared, max(s.valid_from) AS last_change
  FROM ferry.mcp_server_versions s
  WHERE s.valid_to IS NULL
  GROUP BY s.account, s.team_id
  ORDER BY servers DESC, s.account, s.team_id;

COMMENT ON VIEW ferry.mcp_by_team IS 'The current MCP servers by the team that owns them, the team with the most first; 0 stands for servers of the whole account.';
SELECT ferry_internal.describe_columns('ferry.mcp_by_team', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_by_team.servers IS 'How many servers the team has.';
COMMENT ON COLUMN ferry.mcp_by_team.enabled IS 'How many of them have the status enabled.';
COMMENT ON COLUMN ferry.mcp_by_team.tools IS 'How many tools are recorded for them.';
COMMENT ON COLUMN ferry.mcp_by_team.shared IS 'How many have the auth_mode shared.';
COMMENT ON COLUMN ferry.mcp_by_team.last_change IS 'When one of them was last seen to be added or changed.';
