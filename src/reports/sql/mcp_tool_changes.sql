-- Each version of a server is compared with the one before it, also if the server was gone in between. Tools that both have
-- are left out, each as often as both have it; of the others, the first of a name is compared with the first. Tools without
-- a name are compared as if they had one that no other tool has. What lists no tools is passed over: they are not known then.
CREATE OR REPLACE FUNCTION ferry.mcp_tool_changes(since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, observed_at timestamptz, server_id text, server_name text, change text, tool text, before text, after text
) LANGUAGE sql STABLE SET jit = off AS $$
  SELECT v.account, v.valid_from, v.server_id, v.server_name, t.change, t.tool, t.before, t.after
  FROM ferry.mcp_server_versions v
  CROSS JOIN LATERAL (
    SELECT p.tools FROM ferry.mcp_server_versions p
    WHERE p.server_id = v.server_id AND p.account = v.account AND p.valid_from < v.valid_from AND jsonb_typeof(p.tools) = 'array'
    ORDER BY p.valid_from DESC LIMIT 1
  ) p
  CROSS JOIN LATERAL (
    SELECT CASE WHEN bool_and(d.more > 0) THEN 'added' WHEN bool_and(d.more < 0) THEN 'removed' ELSE 'description changed' END AS change,
      d.name AS tool, max(d.description) FILTER (WHERE d.more < 0) AS before, max(d.description) FILTER (WHERE d.more > 0) AS after
    FROM (
      SELECT c.name, c.description, c.more, row_number() OVER (PARTITION BY c.name, c.more > 0 ORDER BY c.description) AS nth
      FROM (
        SELECT x.tool ->> 'name', x.tool ->> 'description', sum(s.sign)::int
        FROM (VALUES (-1, p.tools), (1, v.tools)) s (sign, tools) CROSS JOIN LATERAL jsonb_array_elements(s.tools) x (tool)
        GROUP BY 1, 2 HAVING sum(s.sign) <> 0
      ) c (name, description, more)
      CROSS JOIN LATERAL generate_series(1, abs(c.more))
    ) d
    GROUP BY d.name, d.nth
  ) t
  WHERE v.valid_from >= coalesce($1, now() - interval '7 days') AND v.valid_from <= coalesce($2, 'infinity')
    AND jsonb_typeof(v.tools) = 'array' AND v.tools <> p.tools
  ORDER BY v.valid_from DESC, v.account, v.server_id, t.tool, t.before, t.after
$$;

COMMENT ON FUNCTION ferry.mcp_tool_changes IS 'Tools that a known MCP server gained, lost or changed the description of since a time (null: seven days ago) and up to one (null: now), the newest first. before and after are the descriptions. Servers that were added or removed are in mcp_server_changes.';
