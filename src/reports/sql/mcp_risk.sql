-- Verbs are words of a tool's name: delete_branch, deleteBranch and branch-delete, but not undeleted; one that deletes counts, else the first. They
-- are looked up once for each name; VMDelete has two words. Invisible characters are those that show nothing, or turn the direction of text: they can
-- hide instructions for a model from people. Of a name of 60,000 characters only the beginning is split into words.
CREATE OR REPLACE VIEW ferry.mcp_risk AS
  WITH servers AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY s.account, s.server_name, s.server_id) AS place,
      s.account, s.server_id, s.server_name, s.team_id, s.description, s.url, s.status, s.auth_mode, s.tool_count, s.tools
    FROM ferry.mcp_server_versions s WHERE s.valid_to IS NULL
  ), tools AS MATERIALIZED (
    SELECT s.place, t.tool ->> 'name' AS name, t.tool ->> 'description' AS description
    FROM servers s
    CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END) AS t (tool)
    -- Postgres expects 100 elements of any array: without this it would compile the whole (JIT), which takes a second.
    WHERE jsonb_typeof(t.tool) = 'object'
  ), verbs (verb, deletes) AS (
    SELECT unnest('{delete,remove,drop,destroy,purge,truncate,kill,terminate,revoke,wipe,erase,clear,flush,uninstall,unlink,shutdown}'::text[]), true
    UNION ALL
    SELECT unnest('{create,add,insert,update,upsert,write,set,put,post,patch,edit,modify,rename,move,send,publish,execute,exec,deploy,apply,merge,push,upload,restart,scale,rollback,enable,disable,grant,close,cancel,run,invoke,trigger,reset,start,stop,reboot,drain}'::text[]), false
  ), named AS MATERIALIZED (
    SELECT DISTINCT ON (n.name) n.name, v.verb, v.deletes
    FROM (SELECT DISTINCT name FROM tools) n
    CROSS JOIN LATERAL regexp_split_to_table(
        lower(regexp_replace(left(n.name, 1000), '([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])', '\1\2_', 'g')), '[^a-z]+')
      WITH ORDINALITY AS w (word, nth)
    JOIN verbs v ON v.verb = w.word
    ORDER BY n.name, v.deletes DESC, w.nth
  ), reasons (reason, severity) AS (
    -- High: somebody else reads, steers or destroys. Medium: a model changes something, or takes the wrong tool. Low: to be cleaned up.
    VALUES ('invisible characters', 'high'), ('no https', 'high'), ('tool deletes', 'high'),
      ('tool writes', 'medium'), ('tool count differs', 'medium'), ('name used twice', 'medium'), ('tool name used twice', 'medium'),
      ('shared credentials', 'low'), ('disabled but listed', 'low')
  ), found AS (
    SELECT place, 'no https' AS reason, NULL AS tool, url AS detail FROM servers WHERE url <> '' AND url !~* '^https://'
    UNION ALL
    SELECT place, 'shared credentials', NULL, 'auth_mode ' || auth_mode FROM servers WHERE auth_mode = 'shared'
    UNION ALL
    SELECT place, 'disabled but listed', NULL, 'status ' || status FROM servers WHERE status = 'disabled'
    UNION ALL
    SELECT s.place, 'tool count differs', NULL, 'tool_count ' || s.tool_count || ', tools ' || coalesce(n.tools::text, 'not listed')
    FROM servers s CROSS JOIN LATERAL (SELECT CASE jsonb_typeof(s.tools) WHEN 'array' THEN jsonb_array_length(s.tools) END AS tools) n
    WHERE s.tool_count <> coalesce(n.tools, 0)
    UNION ALL
    SELECT s.place, 'name used twice', NULL, n.servers || ' servers'
    FROM servers s
    JOIN (SELECT account, server_name, count(*) AS servers FROM servers GROUP BY account, server_name HAVING count(*) > 1) n USING (account, server_name)
    UNION ALL
    SELECT place, 'tool name used twice', name, count(*) || ' tools'
    FROM tools WHERE name IS NOT NULL GROUP BY place, name HAVING count(*) > 1
    UNION ALL
    SELECT place, CASE WHEN v.deletes THEN 'tool deletes' ELSE 'tool writes' END, name, v.verb
    FROM (SELECT DISTINCT place, name FROM tools) t JOIN named v USING (name)
    UNION ALL
    SELECT place, 'invisible characters', tool, min('U+' || upper(lpad(hex, greatest(4, length(hex)), '0')))
    FROM (
      SELECT place, NULL AS tool, concat_ws(' ', server_name, description) AS text FROM servers
      UNION ALL
      SELECT place, name, concat_ws(' ', name, description) FROM tools
    ) texts
    CROSS JOIN LATERAL (
      -- Most texts are ASCII: their length in bytes says so much faster. What is hidden wherever it stands is found at once, also in 60,000 characters.
      SELECT CASE WHEN octet_length(text) <> length(text) THEN coalesce(
        substring(text FROM
          '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B\u200C\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0D\uFEFF\uFFA0\uFFF9-\uFFFB\U000E0000-\U000E001F\U000E0080-\U000E0FFF]'),
        -- An emoji may have one: ⚠️ has U+FE0F, and 👩‍💻 U+200D. The flags of England, Scotland and Wales have six.
        CASE WHEN text ~ '[\u200D\uFE0E\uFE0F\U000E0020-\U000E007F]' THEN substring(regexp_replace(text,
          '\U0001F3F4\U000E0067\U000E0062(?:\U000E0065\U000E006E\U000E0067|\U000E0073\U000E0063\U000E0074|\U000E0077\U000E006C\U000E0073)\U000E007F|[0-9#*]\uFE0F\u20E3|[\u00A9\u00AE\u203C\u2049\u2122\u2139\u2194-\u21AA\u231A-\u23FF\u24C2\u25AA-\u27BF\u2934\u2935\u2B05-\u2B55\u3030\u303D\u3297\u3299\U0001F000-\U0001FAFF][\uFE0E\uFE0F]?(?:\u200D(?=[\u2194\u2195\u2600-\u27BF\u2B1B\U0001F000-\U0001FAFF]))?',
          '', 'g') FROM '[\u200D\uFE0E\uFE0F\U000E0020-\U000E007F]') END
      ) END AS hidden
    ) h
    CROSS JOIN LATERAL (SELECT to_hex(ascii(hidden)) AS hex) x
    WHERE hidden IS NOT NULL
    GROUP BY place, tool
  )
  SELECT s.account, s.server_id, s.server_name, s.team_id, r.severity, f.reason, f.tool, f.detail, s.auth_mode
  FROM found f JOIN servers s USING (place) JOIN reasons r USING (reason)
  ORDER BY array_position('{high,medium,low}', r.severity), f.place, f.reason, f.tool;

COMMENT ON VIEW ferry.mcp_risk IS 'Possible risks in the current MCP servers: one row for each server, reason and tool, the gravest first.';
SELECT ferry_internal.describe_columns('ferry.mcp_risk', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_risk.severity IS 'high: invisible characters, no https, tool deletes; medium: tool writes, tool count differs, name used twice, tool name used twice; low: shared credentials, disabled but listed.';
COMMENT ON COLUMN ferry.mcp_risk.reason IS 'no https; shared credentials; disabled but listed; tool count differs (the platform counts more or fewer tools than it lists); name used twice (by servers of the account); tool name used twice (in one server); tool writes or tool deletes (by a verb in its name); invisible characters (in a name or description, such as zero-width or bidirectional ones).';
COMMENT ON COLUMN ferry.mcp_risk.tool IS 'The tool, if the reason concerns one.';
COMMENT ON COLUMN ferry.mcp_risk.detail IS 'What was found: the address, the verb, the character, both counts.';
