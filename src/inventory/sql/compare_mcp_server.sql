-- Each version is looked up by the key. What only some rows need is asked for in a WHERE: as a condition of the join, it would
-- be looked up for all.
CREATE OR REPLACE FUNCTION ferry_internal.compare_mcp_server(account text, server_id text, a timestamptz, b timestamptz)
RETURNS TABLE (change text, first_reading boolean, old ferry.mcp_server_versions, new ferry.mcp_server_versions)
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN o.fingerprint IS NULL THEN 'added' WHEN n.fingerprint IS NULL THEN 'removed' ELSE 'changed' END,
    coalesce(f.appeared = 'first reading', false), o.version, n.version
  FROM (SELECT) one
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT v AS version, v.fingerprint, v.valid_to FROM ferry.mcp_server_versions v
      WHERE v.server_id = $2 AND v.account = $1 AND v.valid_from <= $3 ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE v.valid_to IS NULL OR v.valid_to > $3
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT v AS version, v.fingerprint, v.valid_to FROM ferry.mcp_server_versions v
      WHERE v.server_id = $2 AND v.account = $1 AND v.valid_from <= $4 ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE v.valid_to IS NULL OR v.valid_to > $4
  ) n ON true
  LEFT JOIN LATERAL (
    SELECT v.appeared FROM ferry.mcp_server_versions v
    WHERE v.server_id = $2 AND v.account = $1 AND v.valid_from > $3 AND o.fingerprint IS NULL AND $3 < $4
    ORDER BY v.valid_from LIMIT 1
  ) f ON true
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint
$$;

COMMENT ON FUNCTION ferry_internal.compare_mcp_server IS 'How an MCP server differs between two instants, with its version at each; no row if it is the same. first_reading: the added server was found by a first reading. a may be the later instant.';
