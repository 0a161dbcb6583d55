CREATE OR REPLACE FUNCTION ferry.mcp_servers_as_of(at timestamptz)
RETURNS TABLE (
  account text, {{mcp-servers $field $type, }}
  valid_from timestamptz, valid_to timestamptz, opened_by_run bigint, closed_by_run bigint,
  fingerprint uuid, flags text[], altered text[]
) LANGUAGE sql STABLE AS $$
  SELECT v.account, {{mcp-servers v.$field, }}
    v.valid_from, v.valid_to, v.opened_by_run, v.closed_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.mcp_server_versions v
  WHERE v.valid_from <= $1 AND (v.valid_to IS NULL OR v.valid_to > $1)
    AND ferry_internal.expect_history($1)
$$;

COMMENT ON FUNCTION ferry.mcp_servers_as_of IS 'The MCP servers as they were known at a moment; the columns of mcp_servers, and valid_to and closed_by_run. For a moment up to settled_at() the answer never changes, but for valid_to and closed_by_run: they are null until a run observes that the version has ended.';
