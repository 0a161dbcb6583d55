-- What a night's report needs of a version stands in the indexes.
DROP INDEX "ferry"."alert_rule_versions_current", "ferry"."alert_rule_versions_by_end", "ferry"."alert_rule_firings_by_end";--> statement-breakpoint
CREATE UNIQUE INDEX "alert_rule_versions_current" ON "ferry"."alert_rule_versions" USING btree ("id","account") INCLUDE ("fingerprint","folder_id","enabled","debug_log_enabled","team","valid_from") WHERE "ferry"."alert_rule_versions"."valid_to" is null;--> statement-breakpoint
CREATE INDEX "alert_rule_versions_by_end" ON "ferry"."alert_rule_versions" USING btree ("valid_to","valid_from") INCLUDE ("id","account") WHERE "ferry"."alert_rule_versions"."valid_to" is not null;--> statement-breakpoint
CREATE INDEX "alert_rule_firings_by_end" ON "ferry"."alert_rule_firings" USING btree ("ended","began") WHERE "ferry"."alert_rule_firings"."ended" is not null;
--> statement-breakpoint
-- Verbs are words of a tool's name: delete_branch, deleteBranch and branch-delete, but not undeleted; the first one counts. They
-- are looked up once for each name. Invisible characters are those that show nothing, or turn the direction of text: they can
-- hide instructions for a model from people.
CREATE OR REPLACE VIEW ferry.mcp_risk AS
  WITH servers AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY s.account, s.server_name, s.server_id) AS place,
      s.account, s.server_id, s.server_name, s.team_id, s.description, s.url, s.status, s.auth_mode, s.tools
    FROM ferry.mcp_server_versions s WHERE s.valid_to IS NULL
  ), tools AS MATERIALIZED (
    SELECT s.place, t.tool ->> 'name' AS name, t.tool ->> 'description' AS description
    FROM servers s
    CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END) AS t (tool)
    -- Postgres expects 100 elements of any array: without this it would compile the whole (JIT), which takes a second.
    WHERE jsonb_typeof(t.tool) = 'object'
  ), verbs (verb, deletes) AS (
    SELECT unnest('{delete,remove,drop,destroy,purge,truncate,kill,terminate,revoke}'::text[]), true
    UNION ALL
    SELECT unnest('{create,add,insert,update,upsert,write,set,put,post,patch,edit,modify,rename,move,send,publish,execute,exec,deploy,apply,merge,push,upload,restart,scale,rollback,enable,disable,grant,close,cancel}'::text[]), false
  ), named AS MATERIALIZED (
    SELECT DISTINCT ON (n.name) n.name, v.verb, v.deletes
    FROM (SELECT DISTINCT name FROM tools) n
    CROSS JOIN LATERAL regexp_split_to_table(lower(regexp_replace(n.name, '([a-z0-9])([A-Z])', '\1_\2', 'g')), '[^a-z]+')
      WITH ORDINALITY AS w (word, nth)
    JOIN verbs v ON v.verb = w.word
    ORDER BY n.name, w.nth
  ), found AS (
    SELECT place, 'no https' AS reason, NULL AS tool, url AS detail FROM servers WHERE url <> '' AND url !~* '^https://'
    UNION ALL
    SELECT place, 'shared credentials', NULL, 'auth_mode ' || auth_mode FROM servers WHERE auth_mode = 'shared'
    UNION ALL
    SELECT place, 'disabled but listed', NULL, 'status ' || status FROM servers WHERE status = 'disabled'
    UNION ALL
    SELECT s.place, 'name used twice', NULL, n.servers || ' servers'
    FROM servers s
    JOIN (SELECT account, server_name, count(*) AS servers FROM servers GROUP BY account, server_name HAVING count(*) > 1) n USING (account, server_name)
    UNION ALL
    SELECT place, 'tool name used twice', name, n.tools || ' tools'
    FROM tools
    JOIN (SELECT place, name, count(*) AS tools FROM tools GROUP BY place, name HAVING count(*) > 1) n USING (place, name)
    UNION ALL
    SELECT place, CASE WHEN v.deletes THEN 'tool deletes' ELSE 'tool writes' END, name, v.verb
    FROM tools JOIN named v USING (name)
    UNION ALL
    SELECT place, 'invisible characters', tool, 'U+' || upper(lpad(hex, greatest(4, length(hex)), '0'))
    FROM (
      SELECT place, NULL AS tool, server_name AS name, description FROM servers
      UNION ALL
      SELECT place, name, name, description FROM tools
    ) texts
    CROSS JOIN LATERAL (
      -- Most texts are ASCII: their length in bytes says so much faster.
      SELECT CASE WHEN octet_length(name) <> length(name) OR octet_length(description) <> length(description) THEN
        substring(concat_ws(' ', name, description) FROM
          '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF9-\uFFFB\U000E0000-\U000E0FFF]'
        ) END AS hidden
    ) h
    CROSS JOIN LATERAL (SELECT to_hex(ascii(hidden)) AS hex) x
    WHERE hidden IS NOT NULL
  )
  SELECT s.account, s.server_id, s.server_name, s.team_id, f.reason, f.tool, f.detail
  FROM found f JOIN servers s USING (place)
  ORDER BY f.place, f.reason, f.tool;

COMMENT ON VIEW ferry.mcp_risk IS 'What could be a risk in the current MCP servers: one row for each server, reason and tool.';
SELECT ferry.describe_columns('ferry.mcp_risk', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_risk.reason IS 'no https; shared credentials; disabled but listed; name used twice (by servers of the account); tool name used twice (in one server); tool writes or tool deletes (by a verb in its name); invisible characters (in a name or description, such as zero-width or bidirectional ones).';
COMMENT ON COLUMN ferry.mcp_risk.tool IS 'The tool, if the reason is about one.';
COMMENT ON COLUMN ferry.mcp_risk.detail IS 'What was found: the address, the verb, the character.';
--> statement-breakpoint
-- The rules of that night that are still as they were, in the index of current rules, and those that ended since then, in the
-- index by end. Postgres cannot know the night, and takes a third of all versions to have ended since then, anywhere in the
-- table: whoever asks sets random_page_cost to what it is in a cache, else it reads all versions.
CREATE OR REPLACE FUNCTION ferry.alert_rules_of_night(night date)
RETURNS TABLE (
  account text, id numeric(20, 0), folder_id numeric(20, 0), name text, labels jsonb, team text, enabled boolean,
  debug_log_enabled boolean, triggered boolean, creator_name text, updater_name text
) LANGUAGE sql STABLE AS $$
  WITH taken AS MATERIALIZED (
    SELECT n.account, n.taken_at FROM ferry.nights($1 - 1) n
    WHERE n.night = $1 AND n.taken_at IS NOT NULL AND ferry.expect_history(n.taken_at)
  ), firing AS MATERIALIZED (
    -- Two looks into indexes: an OR would read all episodes.
    SELECT f.account, f.id FROM taken t
    JOIN ferry.alert_rule_firings f ON f.account = t.account AND f.began <= t.taken_at AND f.ended > t.taken_at
    UNION ALL
    SELECT f.account, f.id FROM taken t
    JOIN ferry.alert_rule_firings f ON f.account = t.account AND f.began <= t.taken_at AND f.ended IS NULL
  )
  SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, f.id IS NOT NULL,
    v.creator_name, v.updater_name
  FROM (
    SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, v.creator_name, v.updater_name
    FROM taken t
    JOIN ferry.alert_rule_versions v ON v.account = t.account AND v.valid_from <= t.taken_at AND v.valid_to IS NULL
    UNION ALL
    SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, v.creator_name, v.updater_name
    FROM taken t
    JOIN ferry.alert_rule_versions v ON v.account = t.account AND v.valid_from <= t.taken_at AND v.valid_to > t.taken_at
  ) v
  LEFT JOIN firing f ON f.id = v.id AND f.account = v.account
$$;

COMMENT ON FUNCTION ferry.alert_rules_of_night IS 'The alert rules as each account''s snapshot of a night shows them, see ferry.nights; none of an account that has no snapshot of that night. Raises an error if the history starts later.';
--> statement-breakpoint
-- The costs are those of alert_rules_of_night. Its rows are counted as they come: sorting them takes twice as long.
CREATE OR REPLACE FUNCTION ferry.rules_by_folder_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), rules integer, enabled integer, disabled integer, firing integer,
  debug_log_enabled integer, unowned integer
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_sort = off SET work_mem = '32MB' AS $$
  SELECT v.account, v.folder_id, count(*)::int AS rules, (count(*) FILTER (WHERE v.enabled))::int,
    (count(*) FILTER (WHERE NOT v.enabled))::int, (count(*) FILTER (WHERE v.triggered))::int,
    (count(*) FILTER (WHERE v.debug_log_enabled))::int, (count(*) FILTER (WHERE v.team IS NULL))::int
  FROM ferry.alert_rules_of_night($1) v
  GROUP BY v.account, v.folder_id
  ORDER BY rules DESC, v.account, v.folder_id
$$;

COMMENT ON FUNCTION ferry.rules_by_folder_of_night IS 'The view rules_by_folder, as the snapshots of a night show it.';
--> statement-breakpoint
-- The costs are those of alert_rules_of_night. Its rows are counted as they come: sorting them takes twice as long.
CREATE OR REPLACE FUNCTION ferry.rules_by_team_of_night(night date)
RETURNS TABLE (
  account text, team text, rules integer, enabled integer, disabled integer, firing integer, debug_log_enabled integer, folders integer
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_sort = off SET work_mem = '32MB' AS $$
  SELECT c.account, c.team, sum(c.rules)::int AS rules, sum(c.enabled)::int, (sum(c.rules) - sum(c.enabled))::int,
    sum(c.firing)::int, sum(c.debug_log_enabled)::int, count(*)::int
  FROM (
    SELECT v.account, v.team, v.folder_id, count(*) AS rules, count(*) FILTER (WHERE v.enabled) AS enabled,
      count(*) FILTER (WHERE v.triggered) AS firing, count(*) FILTER (WHERE v.debug_log_enabled) AS debug_log_enabled
    FROM ferry.alert_rules_of_night($1) v
    GROUP BY v.account, v.team, v.folder_id
  ) c
  GROUP BY c.account, c.team
  ORDER BY rules DESC, c.account, c.team
$$;

COMMENT ON FUNCTION ferry.rules_by_team_of_night IS 'The view rules_by_team, as the snapshots of a night show it.';
--> statement-breakpoint
-- The costs are those of alert_rules_of_night.
CREATE OR REPLACE FUNCTION ferry.rules_unowned_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), id numeric(20, 0), name text, enabled boolean, labels jsonb, creator_name text, updater_name text
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 AS $$
  SELECT v.account, v.folder_id, v.id, v.name, v.enabled, v.labels, v.creator_name, v.updater_name
  FROM ferry.alert_rules_of_night($1) v
  WHERE v.team IS NULL
  ORDER BY v.account, v.folder_id, v.name, v.id
$$;

COMMENT ON FUNCTION ferry.rules_unowned_of_night IS 'The view rules_unowned, as the snapshots of a night show it.';
