-- Each version of a server is compared with the one before it, also if the server was gone in between. Tools that both have
-- are left out, each as often as both have it; of the others, the first of a name is compared with the first. Tools without
-- a name are compared as if they had one that no other tool has.
CREATE OR REPLACE FUNCTION ferry.mcp_tool_changes(since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, observed_at timestamptz, server_id text, server_name text, change text, tool text, before text, after text
) LANGUAGE sql STABLE SET jit = off AS $$
  SELECT v.account, v.valid_from, v.server_id, v.server_name, t.change, t.tool, t.before, t.after
  FROM ferry.mcp_server_versions v
  CROSS JOIN LATERAL (
    SELECT p.tools FROM ferry.mcp_server_versions p
    WHERE p.server_id = v.server_id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p
  CROSS JOIN LATERAL (
    SELECT CASE WHEN o.key IS NULL THEN 'added' WHEN n.key IS NULL THEN 'removed' ELSE 'description changed' END AS change,
      coalesce(n.name, o.name) AS tool, o.description AS before, n.description AS after
    FROM (
      SELECT coalesce(to_jsonb(d.name), 'null') AS key, d.name, d.description,
        row_number() OVER (PARTITION BY d.name ORDER BY d.description) AS nth
      FROM (
        SELECT x.tool ->> 'name', x.tool ->> 'description' FROM jsonb_array_elements(p.tools) x (tool)
        EXCEPT ALL SELECT x.tool ->> 'name', x.tool ->> 'description' FROM jsonb_array_elements(v.tools) x (tool)
      ) d (name, description)
    ) o
    FULL JOIN (
      SELECT coalesce(to_jsonb(d.name), 'null') AS key, d.name, d.description,
        row_number() OVER (PARTITION BY d.name ORDER BY d.description) AS nth
      FROM (
        SELECT x.tool ->> 'name', x.tool ->> 'description' FROM jsonb_array_elements(v.tools) x (tool)
        EXCEPT ALL SELECT x.tool ->> 'name', x.tool ->> 'description' FROM jsonb_array_elements(p.tools) x (tool)
      ) d (name, description)
    ) n ON n.key = o.key AND n.nth = o.nth
  ) t
  WHERE v.valid_from >= coalesce($1, now() - interval '7 days') AND v.valid_from <= coalesce($2, 'infinity')
    AND v.tools IS DISTINCT FROM p.tools
  ORDER BY v.valid_from DESC, v.account, v.server_id, t.tool, t.before, t.after
$$;

COMMENT ON FUNCTION ferry.mcp_tool_changes IS 'Tools that a known MCP server gained, lost or described otherwise since a time (null: seven days ago) and up to one (null: now), the newest first. before and after are the descriptions. Servers that were added or removed are in mcp_server_changes.';
