CREATE OR REPLACE FUNCTION ferry_internal.mcp_server_differences(old ferry.mcp_server_versions, new ferry.mcp_server_versions)
RETURNS TABLE (before jsonb, after jsonb) LANGUAGE sql STABLE AS $$
  SELECT jsonb_object_agg(n.key, v.old -> n.key), jsonb_object_agg(n.key, n.value)
  FROM (
    SELECT to_jsonb($1) - '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,appeared}'::text[] AS old OFFSET 0
  ) v, jsonb_each(to_jsonb($2)) n
  WHERE n.value <> v.old -> n.key
$$;

COMMENT ON FUNCTION ferry_internal.mcp_server_differences IS 'The fields in which two versions of an MCP server differ, as they were and as they became; null if a version is missing or nothing differs. For views and reports.';
