-- Verbs are words of a tool's name: delete_branch, deleteBranch and branch-delete, but not undeleted. Invisible characters
-- are those that show nothing, or turn the direction of text: they can hide instructions for a model from people.
CREATE OR REPLACE VIEW ferry.mcp_risk AS
  WITH servers AS (
    SELECT s.account, s.server_id, s.server_name, s.team_id, s.description, s.url, s.status, s.auth_mode, s.tools,
      count(*) OVER (PARTITION BY s.account, s.server_name) AS same_name
    FROM ferry.mcp_server_versions s WHERE s.valid_to IS NULL
  ), tools AS (
    SELECT s.account, s.server_id, s.server_name, s.team_id, t.position, t.tool ->> 'name' AS name, t.tool ->> 'description' AS description,
      count(*) OVER (PARTITION BY s.account, s.server_id, t.tool ->> 'name') AS same_name
    FROM servers s
    CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END)
      WITH ORDINALITY AS t (tool, position)
  ), names AS MATERIALIZED (
    SELECT DISTINCT name FROM tools
  ), verbs AS MATERIALIZED (
    SELECT name, verb, verb IN ('delete', 'remove', 'drop', 'destroy', 'purge', 'truncate', 'kill', 'terminate', 'revoke') AS deletes
    FROM (
      SELECT name, substring(lower(regexp_replace(name, '([a-z0-9])([A-Z])', '\1_\2', 'g')) FROM
        '(?:^|[^a-z])(delete|remove|drop|destroy|purge|truncate|kill|terminate|revoke|create|add|insert|update|upsert|write|set|put|post|patch|edit|modify|rename|move|send|publish|execute|exec|deploy|apply|merge|push|upload|restart|scale|rollback|enable|disable|grant|close|cancel)(?:[^a-z]|$)'
      ) AS verb
      FROM names
    ) named
    WHERE verb IS NOT NULL
  ), found AS (
    SELECT account, server_id, server_name, team_id, 'no https' AS reason, NULL AS tool, url AS detail
    FROM servers WHERE url <> '' AND url !~* '^https://'
    UNION ALL
    SELECT account, server_id, server_name, team_id, 'shared credentials', NULL, 'auth_mode ' || auth_mode
    FROM servers WHERE auth_mode = 'shared'
    UNION ALL
    SELECT account, server_id, server_name, team_id, 'disabled but listed', NULL, 'status ' || status
    FROM servers WHERE status = 'disabled'
    UNION ALL
    SELECT account, server_id, server_name, team_id, 'name used twice', NULL, same_name || ' servers'
    FROM servers WHERE same_name > 1 AND server_name IS NOT NULL
    UNION ALL
    SELECT account, server_id, server_name, team_id, 'tool name used twice', name, same_name || ' tools'
    FROM tools WHERE same_name > 1 AND name IS NOT NULL
    UNION ALL
    SELECT account, server_id, server_name, team_id, CASE WHEN v.deletes THEN 'tool deletes' ELSE 'tool writes' END, name, v.verb
    FROM tools JOIN verbs v USING (name)
    UNION ALL
    SELECT account, server_id, server_name, team_id, 'invisible characters', tool, 'U+' || upper(lpad(hex, greatest(4, length(hex)), '0'))
    FROM (
      SELECT account, server_id, server_name, team_id, NULL AS tool, concat_ws(' ', server_name, description) AS text FROM servers
      UNION ALL
      SELECT account, server_id, server_name, team_id, name, concat_ws(' ', name, description) FROM tools
    ) texts
    CROSS JOIN LATERAL (
      -- Most texts are ASCII: their length in bytes says so much faster.
      SELECT CASE WHEN octet_length(text) <> length(text) THEN substring(text FROM
        '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF9-\uFFFB\U000E0000-\U000E0FFF]'
      ) END AS hidden
    ) h
    CROSS JOIN LATERAL (SELECT to_hex(ascii(hidden)) AS hex) x
    WHERE hidden IS NOT NULL
  )
  SELECT account, server_id, server_name, team_id, reason, tool, detail FROM found
  ORDER BY account, server_name, server_id, reason, tool;

COMMENT ON VIEW ferry.mcp_risk IS 'What could be a risk in the current MCP servers: one row for each server, reason and tool.';
SELECT ferry.describe_columns('ferry.mcp_risk', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_risk.reason IS 'no https; shared credentials; disabled but listed; name used twice (by servers of the account); tool name used twice (in one server); tool writes or tool deletes (by a verb in its name); invisible characters (in a name or description, such as zero-width or bidirectional ones).';
COMMENT ON COLUMN ferry.mcp_risk.tool IS 'The tool, if the reason is about one.';
COMMENT ON COLUMN ferry.mcp_risk.detail IS 'What was found: the address, the verb, the character.';
