-- What reports count is in indexes, so that they need not read the whole history. Adding the column writes the table anew.
DROP INDEX "ferry"."alert_rule_versions_current", "ferry"."alert_rule_versions_by_end";--> statement-breakpoint
ALTER TABLE "ferry"."alert_rule_versions" ADD COLUMN "team" text GENERATED ALWAYS AS (left(coalesce(nullif(labels ->> 'team', ''), jsonb_path_query_first(labels, '$.keyvalue() ? (@.key like_regex "^(team|owner|squad)$" flag "i" && @.value != "").value', '{}', true) #>> '{}'), 100)) STORED;--> statement-breakpoint
CREATE INDEX "alert_rule_firings_by_end" ON "ferry"."alert_rule_firings" USING btree ("ended") WHERE "ferry"."alert_rule_firings"."ended" is not null;--> statement-breakpoint
CREATE INDEX "alert_rule_versions_disabled" ON "ferry"."alert_rule_versions" USING btree ("id","account","valid_from") INCLUDE ("valid_to") WHERE not "ferry"."alert_rule_versions"."enabled";--> statement-breakpoint
CREATE INDEX "alert_rule_versions_schedules" ON "ferry"."alert_rule_versions" USING btree ("account","cron_pattern","timezone") WHERE "ferry"."alert_rule_versions"."valid_to" is null and "ferry"."alert_rule_versions"."enabled" and octet_length("ferry"."alert_rule_versions"."cron_pattern") <= 400 and coalesce(octet_length("ferry"."alert_rule_versions"."timezone"), 0) <= 100;--> statement-breakpoint
CREATE INDEX "alert_rule_versions_flagged" ON "ferry"."alert_rule_versions" USING btree ("id","account") WHERE "ferry"."alert_rule_versions"."valid_to" is null and "ferry"."alert_rule_versions"."flags" is not null;--> statement-breakpoint
CREATE INDEX "alert_rule_versions_default_timezone" ON "ferry"."alert_rule_versions" USING btree ("id","account") WHERE "ferry"."alert_rule_versions"."valid_to" is null and coalesce("ferry"."alert_rule_versions"."timezone", '') = '';--> statement-breakpoint
CREATE UNIQUE INDEX "alert_rule_versions_current" ON "ferry"."alert_rule_versions" USING btree ("id","account") INCLUDE ("fingerprint","folder_id","enabled","debug_log_enabled","team") WHERE "ferry"."alert_rule_versions"."valid_to" is null;--> statement-breakpoint
CREATE INDEX "alert_rule_versions_by_end" ON "ferry"."alert_rule_versions" USING btree ("valid_to") INCLUDE ("id","account") WHERE "ferry"."alert_rule_versions"."valid_to" is not null;--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.team IS 'The team that owns the rule, by its labels: the first of team, owner and squad that is not empty, in any case; 100 characters at most. Null if there is none. Ferry computes it.';--> statement-breakpoint
-- Reports read indexes alone only where the table was vacuumed.
ALTER TABLE "ferry"."alert_rule_versions" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
--> statement-breakpoint
-- One row for each addition, change, removal and return of a rule. `before` and `after` hold the fields that differ. Each
-- version looks up the version before it, so that a condition on the rule or on the time reaches the index.
CREATE OR REPLACE VIEW ferry.alert_rule_changes AS
  SELECT v.account, v.id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.name,
    CASE WHEN p.id IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after, v.updater_id, v.updater_name
  FROM ferry.alert_rule_versions v
  LEFT JOIN LATERAL (
    SELECT * FROM ferry.alert_rule_versions p
    WHERE p.id = v.id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(key, b.value) AS before, jsonb_object_agg(key, a.value) AS after
    FROM jsonb_each(to_jsonb(p)) b JOIN jsonb_each(to_jsonb(v)) a USING (key)
    WHERE a.value <> b.value AND key <> ALL (
      '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,team}'::text[])
  ) d ON p.id IS NOT NULL
  UNION ALL
  SELECT v.account, v.id, v.valid_to, v.closed_by_run, v.name, 'removed', NULL, NULL, NULL, NULL
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NOT NULL AND NOT EXISTS (
    SELECT FROM ferry.alert_rule_versions n WHERE n.id = v.id AND n.account = v.account AND n.valid_from = v.valid_to
  );

COMMENT ON VIEW ferry.alert_rule_changes IS 'What happened to alert rules: one row for every addition, change, removal and return.';
SELECT ferry.describe_columns('ferry.alert_rule_changes', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rule_changes.observed_at IS 'When it was observed.';
COMMENT ON COLUMN ferry.alert_rule_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.alert_rule_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.alert_rule_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_id IS 'Who changed it, according to the platform; null for a removal.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_name IS 'The name of who changed it; null for a removal.';
--> statement-breakpoint
-- A rule that differs has a version that began or ended between the two instants, so only such versions are read. The
-- differences are computed for the rows and columns that are asked for: Postgres inlines the function.
CREATE OR REPLACE FUNCTION ferry.changes_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, inventory text, change text, id text, name text, folder_id numeric(20, 0), updater_name text, before jsonb, after jsonb
) LANGUAGE sql STABLE AS $$
  SELECT c.account, 'alert-rules', CASE WHEN o.id IS NULL THEN 'added' WHEN n.id IS NULL THEN 'removed' ELSE 'changed' END,
    c.id::text, coalesce(n.name, o.name), coalesce(n.folder_id, o.folder_id), n.updater_name,
    (SELECT jsonb_object_agg(x.key, x.value) FROM jsonb_each(to_jsonb(o)) x
     WHERE n.id IS NOT NULL AND x.value IS DISTINCT FROM to_jsonb(n) -> x.key AND x.key <> ALL (
       '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,team}'::text[])),
    (SELECT jsonb_object_agg(x.key, x.value) FROM jsonb_each(to_jsonb(n)) x
     WHERE o.id IS NOT NULL AND x.value IS DISTINCT FROM to_jsonb(o) -> x.key AND x.key <> ALL (
       '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,team}'::text[]))
  FROM (
    SELECT v.account, v.id FROM ferry.alert_rule_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.account, v.id FROM ferry.alert_rule_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.alert_rule_versions v WHERE v.id = c.id AND v.account = c.account AND v.valid_from <= $1
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $1
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.alert_rule_versions v WHERE v.id = c.id AND v.account = c.account AND v.valid_from <= $2
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $2
  ) n ON true
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint
  UNION ALL
  SELECT c.account, 'mcp-servers', CASE WHEN o.server_id IS NULL THEN 'added' WHEN n.server_id IS NULL THEN 'removed' ELSE 'changed' END,
    c.server_id, coalesce(n.server_name, o.server_name), NULL, NULL,
    (SELECT jsonb_object_agg(x.key, x.value) FROM jsonb_each(to_jsonb(o)) x
     WHERE n.server_id IS NOT NULL AND x.value IS DISTINCT FROM to_jsonb(n) -> x.key AND x.key <> ALL (
       '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered}'::text[])),
    (SELECT jsonb_object_agg(x.key, x.value) FROM jsonb_each(to_jsonb(n)) x
     WHERE o.server_id IS NOT NULL AND x.value IS DISTINCT FROM to_jsonb(o) -> x.key AND x.key <> ALL (
       '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered}'::text[]))
  FROM (
    SELECT v.account, v.server_id FROM ferry.mcp_server_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.account, v.server_id FROM ferry.mcp_server_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.mcp_server_versions v WHERE v.server_id = c.server_id AND v.account = c.account AND v.valid_from <= $1
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $1
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.mcp_server_versions v WHERE v.server_id = c.server_id AND v.account = c.account AND v.valid_from <= $2
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $2
  ) n ON true
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint
$$;

COMMENT ON FUNCTION ferry.changes_between IS 'What was added, changed and removed in both inventories from one instant to another: one row for each rule and server that differs, whatever happened between. before and after: the fields that differ, of a change. updater_name: who had updated the rule last at the second instant.';
--> statement-breakpoint
-- A version that began at the instant at which the one before it ended is a change. All others are few, and looked up.
CREATE OR REPLACE FUNCTION ferry.churn_by_folder(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), added integer, changed integer, removed integer, returned integer, changes integer,
  rules_now integer
) LANGUAGE sql STABLE
SET jit = off SET enable_mergejoin = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH alone AS MATERIALIZED (
    SELECT coalesce(b.account, e.account) AS account, coalesce(b.id, e.id) AS id, coalesce(b.at, e.at) AS at, b.folder_id,
      b.id IS NULL AS is_removed
    FROM (
      SELECT v.id, v.account, v.valid_from AS at, v.folder_id FROM ferry.alert_rule_versions v
      WHERE v.valid_from >= coalesce($1, now() - interval '7 days') AND v.valid_from < 'infinity'
    ) b
    FULL JOIN (
      SELECT v.id, v.account, v.valid_to AS at FROM ferry.alert_rule_versions v
      WHERE v.valid_to >= coalesce($1, now() - interval '7 days') AND v.valid_to < 'infinity'
    ) e ON e.id = b.id AND e.account = b.account AND e.at = b.at
    WHERE b.id IS NULL OR e.id IS NULL
  ), counted AS (
    SELECT v.account, v.folder_id, count(*) AS began, 0 AS added, 0 AS returned, 0 AS removed
    FROM ferry.alert_rule_versions v
    WHERE v.valid_from >= coalesce($1, now() - interval '7 days') AND v.valid_from < 'infinity'
    GROUP BY v.account, v.folder_id
    UNION ALL
    SELECT a.account, coalesce(a.folder_id, o.folder_id), 0, count(*) FILTER (WHERE NOT a.is_removed AND o.id IS NULL),
      count(*) FILTER (WHERE NOT a.is_removed AND o.id IS NOT NULL), count(*) FILTER (WHERE a.is_removed)
    FROM alone a
    LEFT JOIN LATERAL (
      SELECT o.id, o.folder_id FROM ferry.alert_rule_versions o
      WHERE o.id = a.id AND o.account = a.account AND o.valid_from < a.at ORDER BY o.valid_from DESC LIMIT 1
    ) o ON true
    GROUP BY 1, 2
  ), summed AS (
    SELECT c.account, c.folder_id, sum(c.began) AS began, sum(c.added) AS added, sum(c.returned) AS returned,
      sum(c.removed) AS removed
    FROM counted c GROUP BY c.account, c.folder_id
  ), present AS (
    SELECT v.account, v.folder_id, count(*) AS rules FROM ferry.alert_rule_versions v
    WHERE v.valid_to IS NULL GROUP BY v.account, v.folder_id
  )
  SELECT s.account, s.folder_id, s.added::int, (s.began - s.added - s.returned)::int, s.removed::int, s.returned::int,
    (s.began + s.removed)::int, coalesce(p.rules, 0)::int
  FROM summed s LEFT JOIN present p ON p.account = s.account AND p.folder_id = s.folder_id
  ORDER BY 7 DESC, s.account, s.folder_id
$$;

COMMENT ON FUNCTION ferry.churn_by_folder IS 'How many alert rules of each folder were added, changed, removed and returned since a time (null: seven days ago), as often as it was observed, the folder with the most changes first. rules_now: how many rules it has. A rule that moved is a change of the folder it is in now.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.cron_field(p_field text, p_from integer, p_to integer) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_names text[] := CASE p_to WHEN 12 THEN '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'
    WHEN 7 THEN '{sun,mon,tue,wed,thu,fri,sat}' ELSE '{}' END;
  v_field text := lower(p_field);
  v_values integer[] := '{}';
  v_part text;
  v_match text[];
  v_first integer;
  v_last integer;
BEGIN
  FOR i IN 1 .. cardinality(v_names) LOOP
    v_field := replace(v_field, v_names[i], (p_from + i - 1)::text);
  END LOOP;
  FOREACH v_part IN ARRAY string_to_array(v_field, ',') LOOP
    v_match := regexp_match(v_part, '^(?:[*?]|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?$');
    IF v_match IS NULL OR v_match[3]::integer = 0 THEN
      RETURN NULL;
    END IF;
    v_first := coalesce(v_match[1]::integer, p_from);
    -- A single number with a step goes on to the end.
    v_last := coalesce(v_match[2]::integer, CASE WHEN v_match[1] IS NULL OR v_match[3] IS NOT NULL THEN p_to ELSE v_first END);
    IF v_first < p_from OR v_last > p_to OR v_first > v_last THEN
      RETURN NULL;
    END IF;
    v_values := v_values || ARRAY(SELECT generate_series(v_first, v_last, coalesce(v_match[3]::integer, 1)));
  END LOOP;
  -- Sunday is 0 and 7.
  RETURN ARRAY(SELECT DISTINCT CASE WHEN p_to = 7 THEN value % 7 ELSE value END AS value FROM unnest(v_values) AS value ORDER BY value);
END $$;

COMMENT ON FUNCTION ferry.cron_field IS 'The values that one field of a cron pattern stands for, between the two bounds; null if it cannot be read. For ferry.cron_load.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.mcp_by_team AS
  SELECT s.account, s.team_id, count(*)::int AS servers, (count(*) FILTER (WHERE s.status = 'enabled'))::int AS enabled,
    sum(jsonb_array_length(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END))::int AS tools,
    (count(*) FILTER (WHERE s.auth_mode = 'shared'))::int AS shared, max(s.valid_from) AS last_change
  FROM ferry.mcp_server_versions s
  WHERE s.valid_to IS NULL
  GROUP BY s.account, s.team_id
  ORDER BY servers DESC, s.account, s.team_id;

COMMENT ON VIEW ferry.mcp_by_team IS 'The current MCP servers by the team that owns them, the team with the most first; 0 stands for servers of the whole account.';
SELECT ferry.describe_columns('ferry.mcp_by_team', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_by_team.servers IS 'How many servers the team has.';
COMMENT ON COLUMN ferry.mcp_by_team.enabled IS 'How many of them have the status enabled.';
COMMENT ON COLUMN ferry.mcp_by_team.tools IS 'How many tools are recorded for them.';
COMMENT ON COLUMN ferry.mcp_by_team.shared IS 'How many have the auth_mode shared.';
COMMENT ON COLUMN ferry.mcp_by_team.last_change IS 'When one of them was last seen to be added or changed.';
--> statement-breakpoint
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
--> statement-breakpoint
-- Each version of a server is compared with the one before it, also if the server was gone in between. The second tool of
-- the same name is compared with the second.
CREATE OR REPLACE FUNCTION ferry.mcp_tool_changes(since timestamptz DEFAULT NULL)
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
    SELECT CASE WHEN o.name IS NULL THEN 'added' WHEN n.name IS NULL THEN 'removed' ELSE 'description changed' END AS change,
      coalesce(n.name, o.name) AS tool, o.description AS before, n.description AS after
    FROM (
      SELECT x.tool ->> 'name' AS name, x.tool ->> 'description' AS description,
        row_number() OVER (PARTITION BY x.tool ->> 'name' ORDER BY x.position) AS nth
      FROM jsonb_array_elements(p.tools) WITH ORDINALITY AS x (tool, position)
    ) o
    FULL JOIN (
      SELECT x.tool ->> 'name' AS name, x.tool ->> 'description' AS description,
        row_number() OVER (PARTITION BY x.tool ->> 'name' ORDER BY x.position) AS nth
      FROM jsonb_array_elements(v.tools) WITH ORDINALITY AS x (tool, position)
    ) n ON n.name = o.name AND n.nth = o.nth
    WHERE o.name IS NULL OR n.name IS NULL OR o.description IS DISTINCT FROM n.description
  ) t
  WHERE v.valid_from >= coalesce($1, now() - interval '7 days') AND v.valid_from < 'infinity'
    AND v.tools IS DISTINCT FROM p.tools
  ORDER BY v.valid_from DESC, v.account, v.server_id, t.tool
$$;

COMMENT ON FUNCTION ferry.mcp_tool_changes IS 'Tools that a known MCP server gained, lost or described otherwise since a time (null: seven days ago), the newest first. before and after are the descriptions. Servers that were added or removed are in mcp_server_changes.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.mcp_tools AS
  SELECT t.account, t.name AS tool, t.server_id, t.server_name, s.team_id, s.status, t.description,
    (count(*) OVER same_name)::int AS servers
  FROM ferry.mcp_server_tools t
  JOIN ferry.mcp_server_versions s ON s.server_id = t.server_id AND s.account = t.account AND s.valid_to IS NULL
  WINDOW same_name AS (PARTITION BY t.account, t.name)
  ORDER BY t.account, t.name, t.server_name, t.server_id, t.position;

COMMENT ON VIEW ferry.mcp_tools IS 'The recorded tools of the current MCP servers by their name: one row for each tool of each server.';
SELECT ferry.describe_columns('ferry.mcp_tools', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_tools.tool IS 'The tool''s name.';
COMMENT ON COLUMN ferry.mcp_tools.description IS 'What the tool does, according to this server.';
COMMENT ON COLUMN ferry.mcp_tools.servers IS 'How many tools of the account have this name.';
--> statement-breakpoint
-- A version is an edit if the one before it ended at the same instant: else the rule was added, or returned. Two indexes
-- alone have all of it. Many edits share an instant, so the callers forbid to merge by it. Without settings of its own,
-- Postgres inlines it.
CREATE OR REPLACE FUNCTION ferry.rule_edits(since timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), folder_id numeric(20, 0), updater_id numeric(20, 0), edited_at timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.id, v.folder_id, v.updater_id, v.valid_from
  FROM ferry.alert_rule_versions v
  JOIN ferry.alert_rule_versions p ON p.id = v.id AND p.account = v.account AND p.valid_to = v.valid_from
  WHERE v.valid_from >= $1 AND v.valid_from < 'infinity' AND p.valid_to >= $1 AND p.valid_to < 'infinity'
$$;

COMMENT ON FUNCTION ferry.rule_edits IS 'Who edited which alert rule since a time: one row for each change that was observed, without additions and returns. For the reports.';
--> statement-breakpoint
-- The index of current rules alone has what is counted here.
CREATE OR REPLACE VIEW ferry.rules_by_folder AS
  SELECT v.account, v.folder_id, count(*)::int AS rules, (count(*) FILTER (WHERE v.enabled))::int AS enabled,
    (count(*) FILTER (WHERE NOT v.enabled))::int AS disabled, count(f.id)::int AS firing,
    (count(*) FILTER (WHERE v.debug_log_enabled))::int AS debug_log_enabled,
    (count(*) FILTER (WHERE v.team IS NULL))::int AS unowned
  FROM ferry.alert_rule_versions v
  LEFT JOIN ferry.alert_rule_firings f ON f.id = v.id AND f.account = v.account AND f.ended IS NULL
  WHERE v.valid_to IS NULL
  GROUP BY v.account, v.folder_id
  ORDER BY rules DESC, account, folder_id;

COMMENT ON VIEW ferry.rules_by_folder IS 'The current alert rules by folder, the largest folder first.';
SELECT ferry.describe_columns('ferry.rules_by_folder', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_by_folder.rules IS 'How many rules are in the folder.';
COMMENT ON COLUMN ferry.rules_by_folder.enabled IS 'How many of them are enabled.';
COMMENT ON COLUMN ferry.rules_by_folder.disabled IS 'How many are disabled.';
COMMENT ON COLUMN ferry.rules_by_folder.firing IS 'How many are firing.';
COMMENT ON COLUMN ferry.rules_by_folder.debug_log_enabled IS 'How many have debug logging on.';
COMMENT ON COLUMN ferry.rules_by_folder.unowned IS 'How many have no team in their labels.';
--> statement-breakpoint
-- The index of current rules alone has what is counted here.
CREATE OR REPLACE VIEW ferry.rules_by_team AS
  SELECT c.account, c.team, sum(c.rules)::int AS rules, sum(c.enabled)::int AS enabled,
    (sum(c.rules) - sum(c.enabled))::int AS disabled, sum(c.firing)::int AS firing,
    sum(c.debug_log_enabled)::int AS debug_log_enabled, count(*)::int AS folders
  FROM (
    SELECT v.account, v.team, v.folder_id, count(*) AS rules, count(*) FILTER (WHERE v.enabled) AS enabled,
      count(f.id) AS firing, count(*) FILTER (WHERE v.debug_log_enabled) AS debug_log_enabled
    FROM ferry.alert_rule_versions v
    LEFT JOIN ferry.alert_rule_firings f ON f.id = v.id AND f.account = v.account AND f.ended IS NULL
    WHERE v.valid_to IS NULL
    GROUP BY v.account, v.team, v.folder_id
  ) c
  GROUP BY c.account, c.team
  ORDER BY rules DESC, account, team;

COMMENT ON VIEW ferry.rules_by_team IS 'The current alert rules by the team in their labels, the team with the most rules first; rules without one are under null.';
SELECT ferry.describe_columns('ferry.rules_by_team', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_by_team.rules IS 'How many rules the team has.';
COMMENT ON COLUMN ferry.rules_by_team.enabled IS 'How many of them are enabled.';
COMMENT ON COLUMN ferry.rules_by_team.disabled IS 'How many are disabled.';
COMMENT ON COLUMN ferry.rules_by_team.firing IS 'How many are firing.';
COMMENT ON COLUMN ferry.rules_by_team.debug_log_enabled IS 'How many have debug logging on.';
COMMENT ON COLUMN ferry.rules_by_team.folders IS 'In how many folders they are.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.rules_contract_breaks AS
  SELECT v.account, b.reason, v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM ferry.alert_rule_versions v CROSS JOIN LATERAL unnest(v.flags) AS b (reason)
  WHERE v.valid_to IS NULL AND v.flags IS NOT NULL
  ORDER BY account, reason, folder_id, name, id;

COMMENT ON VIEW ferry.rules_contract_breaks IS 'The current alert rules that break what the platform requires of cron_pattern and timezone: one row for each rule and reason.';
SELECT ferry.describe_columns('ferry.rules_contract_breaks', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_contract_breaks.reason IS 'What it breaks.';
--> statement-breakpoint
-- Debug logging is on since the last version without it ended, or since the rule was first seen.
CREATE OR REPLACE VIEW ferry.rules_debug_left_on AS
  SELECT v.account, v.id, v.name, v.folder_id, v.team, v.enabled, s.valid_from AS since, clock_timestamp() - s.valid_from AS on_for,
    o.valid_to IS NOT NULL AS switch_seen, s.updater_id, s.updater_name
  FROM ferry.alert_rule_versions c
  JOIN ferry.alert_rule_versions v ON v.id = c.id AND v.account = c.account AND v.valid_to IS NULL
  LEFT JOIN LATERAL (
    SELECT o.valid_to FROM ferry.alert_rule_versions o
    WHERE o.id = v.id AND o.account = v.account AND o.valid_from < v.valid_from AND NOT o.debug_log_enabled
    ORDER BY o.valid_from DESC LIMIT 1
  ) o ON true
  CROSS JOIN LATERAL (
    SELECT s.valid_from, s.updater_id, s.updater_name FROM ferry.alert_rule_versions s
    WHERE s.id = v.id AND s.account = v.account AND s.valid_from >= coalesce(o.valid_to, '-infinity')
    ORDER BY s.valid_from LIMIT 1
  ) s
  WHERE c.valid_to IS NULL AND c.debug_log_enabled
  ORDER BY since, account, id;

COMMENT ON VIEW ferry.rules_debug_left_on IS 'The current alert rules with debug logging on, the longest first: since when, and who switched it on.';
SELECT ferry.describe_columns('ferry.rules_debug_left_on', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_debug_left_on.since IS 'Since when it is on, as observed.';
COMMENT ON COLUMN ferry.rules_debug_left_on.on_for IS 'How long it is on.';
COMMENT ON COLUMN ferry.rules_debug_left_on.switch_seen IS 'Whether Ferry saw it being switched on. If not, it was on when the rule was first seen.';
COMMENT ON COLUMN ferry.rules_debug_left_on.updater_id IS 'Who had updated the rule last at that moment, according to the platform.';
COMMENT ON COLUMN ferry.rules_debug_left_on.updater_name IS 'The name of that person.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.rules_default_timezone AS
  SELECT v.account, v.folder_id, v.id, v.name, v.team, v.enabled, v.cron_pattern, v.updater_name
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NULL AND coalesce(v.timezone, '') = ''
  ORDER BY account, folder_id, name, id;

COMMENT ON VIEW ferry.rules_default_timezone IS 'The current alert rules without a time zone, by folder: the platform reads their schedules as Asia/Shanghai.';
SELECT ferry.describe_columns('ferry.rules_default_timezone', 'ferry.alert_rule_versions');
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.rules_longest_firing(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, began timestamptz,
  ended timestamptz, fired_for interval
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH longest AS MATERIALIZED (
    SELECT DISTINCT ON (e.id, e.account) e.account, e.id, e.began, e.ended, coalesce(e.ended, clock_timestamp()) - e.began AS fired_for
    FROM (
      SELECT f.account, f.id, f.began, f.ended FROM ferry.alert_rule_firings f
      WHERE f.ended > coalesce($1, now() - interval '7 days') AND f.ended < 'infinity'
      UNION ALL
      SELECT f.account, f.id, f.began, NULL FROM ferry.alert_rule_firings f WHERE f.ended IS NULL
    ) e
    ORDER BY e.id, e.account, fired_for DESC
  )
  SELECT l.account, l.id, v.name, v.folder_id, v.team, l.began, l.ended, l.fired_for
  FROM longest l
  CROSS JOIN LATERAL (
    SELECT v.name, v.folder_id, v.team FROM ferry.alert_rule_versions v
    WHERE v.id = l.id AND v.account = l.account ORDER BY v.valid_from DESC LIMIT 1
  ) v
  ORDER BY l.fired_for DESC, l.account, l.id
$$;

COMMENT ON FUNCTION ferry.rules_longest_firing IS 'The longest episode of each alert rule that fired since a time (null: seven days ago), the longest first; with its whole length, also if it began before. ended is null while it fires.';
--> statement-breakpoint
-- Finds the rules in two indexes alone, both in the order of ids, then reads those it returns. A hash of all episodes
-- would take three times as long. A rule is observed while it is enabled: since it was first seen, without the times
-- in which it was disabled.
CREATE OR REPLACE FUNCTION ferry.rules_never_fired(at_most integer DEFAULT 1000)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, first_seen timestamptz,
  days_observed double precision, updater_name text, in_all integer
) LANGUAGE sql STABLE SET jit = off SET enable_hashjoin = off SET enable_seqscan = off AS $$
  WITH silent AS MATERIALIZED (
    SELECT c.id, c.account FROM ferry.alert_rule_versions c
    WHERE c.valid_to IS NULL AND c.enabled
      AND NOT EXISTS (SELECT FROM ferry.alert_rule_firings f WHERE f.id = c.id AND f.account = c.account)
  )
  SELECT v.account, v.id, v.name, v.folder_id, v.team, b.valid_from,
    (extract(epoch FROM clock_timestamp() - b.valid_from - coalesce(d.disabled, interval '0')) / 86400)::float8 AS days_observed,
    v.updater_name, (SELECT count(*)::int FROM silent)
  FROM (SELECT * FROM silent ORDER BY id, account LIMIT $1) s
  JOIN ferry.alert_rule_versions v ON v.id = s.id AND v.account = s.account AND v.valid_to IS NULL
  CROSS JOIN LATERAL (
    SELECT b.valid_from FROM ferry.alert_rule_versions b WHERE b.id = s.id AND b.account = s.account
    ORDER BY b.valid_from LIMIT 1
  ) b
  CROSS JOIN LATERAL (
    SELECT sum(o.valid_to - o.valid_from) AS disabled FROM ferry.alert_rule_versions o
    WHERE o.id = s.id AND o.account = s.account AND NOT o.enabled
  ) d
  ORDER BY days_observed DESC, v.id, v.account
$$;

COMMENT ON FUNCTION ferry.rules_never_fired IS 'The enabled alert rules that were never seen firing, the longest observed first: at most so many (1,000 by default, null for all), those with the lowest ids; in_all says how many there are. days_observed are the days since first_seen without the times in which the rule was disabled. An alert that began and ended between two polls was not seen.';
--> statement-breakpoint
-- A rule is off since its last enabled version ended, or since the rule was first seen.
CREATE OR REPLACE VIEW ferry.rules_switched_off AS
  SELECT v.account, v.id, v.name, v.folder_id, v.team, s.valid_from AS since, clock_timestamp() - s.valid_from AS off_for,
    o.valid_to IS NOT NULL AS switch_seen, s.updater_id, s.updater_name
  FROM ferry.alert_rule_versions c
  JOIN ferry.alert_rule_versions v ON v.id = c.id AND v.account = c.account AND v.valid_to IS NULL
  LEFT JOIN LATERAL (
    SELECT o.valid_to FROM ferry.alert_rule_versions o
    WHERE o.id = v.id AND o.account = v.account AND o.valid_from < v.valid_from AND o.enabled
    ORDER BY o.valid_from DESC LIMIT 1
  ) o ON true
  CROSS JOIN LATERAL (
    SELECT s.valid_from, s.updater_id, s.updater_name FROM ferry.alert_rule_versions s
    WHERE s.id = v.id AND s.account = v.account AND s.valid_from >= coalesce(o.valid_to, '-infinity')
    ORDER BY s.valid_from LIMIT 1
  ) s
  WHERE c.valid_to IS NULL AND NOT c.enabled
  ORDER BY since DESC, account, id;

COMMENT ON VIEW ferry.rules_switched_off IS 'The current alert rules that are disabled, the youngest case first: since when, and who switched them off.';
SELECT ferry.describe_columns('ferry.rules_switched_off', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_switched_off.since IS 'Since when it is disabled, as observed.';
COMMENT ON COLUMN ferry.rules_switched_off.off_for IS 'How long it is disabled.';
COMMENT ON COLUMN ferry.rules_switched_off.switch_seen IS 'Whether Ferry saw it being disabled. If not, it was disabled when the rule was first seen.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_id IS 'Who had updated the rule last at that moment, according to the platform.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_name IS 'The name of that person.';
--> statement-breakpoint
-- Finds the rules in the index of current rules alone, then reads them.
CREATE OR REPLACE VIEW ferry.rules_unowned AS
  SELECT v.account, v.folder_id, v.id, v.name, v.enabled, v.labels, v.creator_name, v.updater_name
  FROM ferry.alert_rule_versions c
  JOIN ferry.alert_rule_versions v ON v.id = c.id AND v.account = c.account AND v.valid_to IS NULL
  WHERE c.valid_to IS NULL AND c.team IS NULL
  ORDER BY account, folder_id, name, id;

COMMENT ON VIEW ferry.rules_unowned IS 'The current alert rules whose labels name no team, owner or squad, by folder.';
SELECT ferry.describe_columns('ferry.rules_unowned', 'ferry.alert_rule_versions');
--> statement-breakpoint
-- What happened to a rule while it fired, or soon after. An episode that ended in the poll that saw the change counts as
-- one that was firing: a rule that is disabled or removed stops firing.
CREATE OR REPLACE FUNCTION ferry.silenced(since timestamptz DEFAULT NULL, soon_after interval DEFAULT '1 hour')
RETURNS TABLE (
  account text, at timestamptz, what text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, fields text[],
  updater_id numeric(20, 0), updater_name text, began timestamptz, ended timestamptz, while_firing boolean
) LANGUAGE sql STABLE
SET jit = off SET enable_mergejoin = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH episodes AS MATERIALIZED (
    SELECT f.account, f.id, f.began, f.ended FROM ferry.alert_rule_firings f
    WHERE f.ended >= coalesce($1, now() - interval '7 days') - $2 AND f.ended < 'infinity'
    UNION ALL
    SELECT f.account, f.id, f.began, NULL FROM ferry.alert_rule_firings f WHERE f.ended IS NULL
  ), versions_ended AS MATERIALIZED (
    -- Changed or removed: either way, a version ended.
    SELECT v.account, v.id, v.valid_to AS at FROM ferry.alert_rule_versions v
    WHERE v.valid_to >= coalesce($1, now() - interval '7 days') AND v.valid_to < 'infinity'
  ), found AS MATERIALIZED (
    SELECT c.account, c.id, c.at, max(e.began) AS began
    FROM versions_ended c
    JOIN episodes e ON e.id = c.id AND e.account = c.account AND e.began < c.at AND coalesce(e.ended, 'infinity') >= c.at - $2
    GROUP BY c.account, c.id, c.at
  )
  SELECT f.account, f.at, CASE WHEN a.id IS NULL THEN 'removed' WHEN b.enabled AND NOT a.enabled THEN 'disabled' ELSE 'edited' END,
    f.id, coalesce(a.name, b.name), coalesce(a.folder_id, b.folder_id), CASE WHEN a.id IS NULL THEN b.team ELSE a.team END, d.fields,
    a.updater_id, a.updater_name, f.began, e.ended, coalesce(e.ended, 'infinity') >= f.at
  FROM found f
  JOIN ferry.alert_rule_firings e ON e.id = f.id AND e.account = f.account AND e.began = f.began
  CROSS JOIN LATERAL (
    SELECT * FROM ferry.alert_rule_versions b
    WHERE b.id = f.id AND b.account = f.account AND b.valid_from < f.at ORDER BY b.valid_from DESC LIMIT 1
  ) b
  LEFT JOIN ferry.alert_rule_versions a ON a.id = f.id AND a.account = f.account AND a.valid_from = f.at
  LEFT JOIN LATERAL (
    SELECT array_agg(n.key ORDER BY n.key) AS fields
    FROM jsonb_each(to_jsonb(a)) n JOIN jsonb_each(to_jsonb(b)) o ON o.key = n.key
    WHERE n.value <> o.value AND n.key <> ALL (
      '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,team,updater_id,updater_name,updated_at}'::text[])
  ) d ON a.id IS NOT NULL
  ORDER BY f.at DESC, f.account, f.id
$$;

COMMENT ON FUNCTION ferry.silenced IS 'Alert rules that were disabled, removed or edited while they fired or soon after (an hour by default), since a time (null: seven days ago), the newest first. what: disabled, removed or edited, with the fields that differ. updater_id and updater_name: who, according to the platform, which does not say who removes a rule. began and ended: the episode; while_firing: whether it had not ended before.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.time_to_clear(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, team text, episodes integer, p50 interval, p90 interval, longest interval
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH episodes AS MATERIALIZED (
    SELECT f.account, f.id, f.ended - f.began AS took FROM ferry.alert_rule_firings f
    WHERE f.ended > coalesce($1, now() - interval '7 days') AND f.ended < 'infinity'
  ), rules AS MATERIALIZED (
    SELECT r.account, r.id, v.team
    FROM (SELECT e.account, e.id FROM episodes e GROUP BY e.id, e.account) r
    CROSS JOIN LATERAL (
      SELECT v.team FROM ferry.alert_rule_versions v
      WHERE v.id = r.id AND v.account = r.account ORDER BY v.valid_from DESC LIMIT 1
    ) v
  )
  SELECT e.account, r.team, count(*)::int, percentile_cont(0.5) WITHIN GROUP (ORDER BY e.took),
    percentile_cont(0.9) WITHIN GROUP (ORDER BY e.took), max(e.took)
  FROM episodes e JOIN rules r ON r.id = e.id AND r.account = e.account
  GROUP BY e.account, r.team
  ORDER BY e.account, r.team
$$;

COMMENT ON FUNCTION ferry.time_to_clear IS 'How long the episodes lasted that ended since a time (null: seven days ago), by the team of the rule: half of them at most p50, nine in ten at most p90. A begin and an end are known to one poll, so an episode may have been shorter or longer by one poll interval.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.zone_of(p_timezone text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  PERFORM now() AT TIME ZONE p_timezone;
  RETURN coalesce(nullif(p_timezone, ''), 'Asia/Shanghai');
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN 'Asia/Shanghai';
END $$;

COMMENT ON FUNCTION ferry.zone_of IS 'The time zone in which the platform reads a rule''s schedule: Asia/Shanghai if the rule has none, or one that this Postgres does not know.';
--> statement-breakpoint
-- Rules have few distinct schedules, which an index alone counts. A schedule that is the same in every hour needs no time zone
-- but for the minutes of its offset; of the others, each local time of the week is turned into an instant.
CREATE OR REPLACE FUNCTION ferry.cron_load(week timestamptz DEFAULT NULL, worst integer DEFAULT 60)
RETURNS TABLE (
  account text, rank integer, minute timestamptz, evaluations integer, average double precision
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH span AS MATERIALIZED (
    SELECT date_trunc('week', coalesce($1, now()), 'UTC') AS begins, date_trunc('week', coalesce($1, now()), 'UTC') + interval '7 days' AS ends
  ), schedules AS MATERIALIZED (
    SELECT v.account, v.cron_pattern, v.timezone, count(*) AS rules FROM ferry.alert_rule_versions v
    WHERE v.valid_to IS NULL AND v.enabled AND octet_length(v.cron_pattern) <= 400 AND coalesce(octet_length(v.timezone), 0) <= 100
    GROUP BY v.account, v.cron_pattern, v.timezone
  ), zones AS MATERIALIZED (
    SELECT z.timezone, ferry.zone_of(z.timezone) AS zone FROM (SELECT DISTINCT s.timezone FROM schedules s) z
  ), patterns AS MATERIALIZED (
    SELECT p.cron_pattern, ferry.cron_field(p.fields[1], 0, 59) AS minutes, ferry.cron_field(p.fields[2], 0, 23) AS hours,
      ferry.cron_field(p.fields[3], 1, 31) AS days, ferry.cron_field(p.fields[4], 1, 12) AS months,
      ferry.cron_field(p.fields[5], 0, 7) AS weekdays,
      -- A day matches if either the day of the month or the weekday does, if both are restricted.
      p.fields[3] ~ '^[*?]' AS is_any_day, p.fields[5] ~ '^[*?]' AS is_any_weekday
    FROM (
      SELECT c.cron_pattern, regexp_split_to_array(btrim(c.cron_pattern), '\s+') AS fields
      FROM (SELECT DISTINCT s.cron_pattern FROM schedules s) c
    ) p
    WHERE cardinality(p.fields) = 5
  ), known AS MATERIALIZED (
    SELECT s.account, z.zone, p.minutes, p.hours, p.days, p.months, p.weekdays, p.is_any_day, p.is_any_weekday, sum(s.rules) AS rules,
      extract(minute FROM w.begins AT TIME ZONE z.zone)::int AS shift,
      cardinality(p.hours) = 24 AND cardinality(p.days) = 31 AND cardinality(p.months) = 12 AND cardinality(p.weekdays) = 7
        AND extract(minute FROM w.begins AT TIME ZONE z.zone) = extract(minute FROM w.ends AT TIME ZONE z.zone) AS is_hourly
    FROM span w CROSS JOIN schedules s
    JOIN zones z ON z.timezone IS NOT DISTINCT FROM s.timezone
    JOIN patterns p ON p.cron_pattern = s.cron_pattern
    WHERE p.minutes IS NOT NULL AND p.hours IS NOT NULL AND p.days IS NOT NULL AND p.months IS NOT NULL AND p.weekdays IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12
  ), hourly AS MATERIALIZED (
    SELECT k.account, (m + 60 - k.shift) % 60 AS minute, sum(k.rules) AS rules
    FROM known k CROSS JOIN LATERAL unnest(k.minutes) AS m WHERE k.is_hourly GROUP BY 1, 2
  ), dated AS MATERIALIZED (
    SELECT k.account, (d.day + make_interval(hours => h, mins => m)) AT TIME ZONE k.zone AS minute, sum(k.rules) AS rules
    FROM span w CROSS JOIN known k
    CROSS JOIN LATERAL generate_series(
      date_trunc('day', w.begins AT TIME ZONE k.zone), date_trunc('day', w.ends AT TIME ZONE k.zone), interval '1 day') AS d (day)
    CROSS JOIN LATERAL unnest(k.hours) AS h CROSS JOIN LATERAL unnest(k.minutes) AS m
    WHERE NOT k.is_hourly AND extract(month FROM d.day) = ANY (k.months)
      AND CASE WHEN k.is_any_day OR k.is_any_weekday
        THEN extract(day FROM d.day) = ANY (k.days) AND extract(dow FROM d.day) = ANY (k.weekdays)
        ELSE extract(day FROM d.day) = ANY (k.days) OR extract(dow FROM d.day) = ANY (k.weekdays) END
    GROUP BY 1, 2
  ), totals AS (
    SELECT a.account, m.minute, coalesce(o.rules, 0) + coalesce(d.rules, 0) AS evaluations
    FROM span w
    CROSS JOIN LATERAL generate_series(w.begins, w.ends - interval '1 minute', interval '1 minute') AS m (minute)
    CROSS JOIN (SELECT DISTINCT k.account FROM known k) a
    LEFT JOIN hourly o ON o.account = a.account AND o.minute = extract(minute FROM m.minute AT TIME ZONE 'UTC')::int
    LEFT JOIN dated d ON d.account = a.account AND d.minute = m.minute
  ), ranked AS (
    SELECT t.account, t.minute, t.evaluations, row_number() OVER (PARTITION BY t.account ORDER BY t.evaluations DESC, t.minute) AS rank,
      avg(t.evaluations) OVER (PARTITION BY t.account) AS average
    FROM totals t
  )
  SELECT r.account, r.rank::int, r.minute, r.evaluations::int, r.average::float8
  FROM ranked r WHERE r.rank <= coalesce($2, 10080)
  ORDER BY r.account, r.rank
$$;

COMMENT ON FUNCTION ferry.cron_load IS 'How many evaluations the enabled alert rules cause in each minute of a week (from Monday 00:00 UTC; null: this week), by cron_pattern and timezone, the worst minutes first: 60 of each account by default, null for all 10,080. average: evaluations of a minute, over the whole week. A pattern that cannot be read, or is longer than 400 bytes, is left out; rules_contract_breaks lists those that break the contract.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.editors(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), updater_id numeric(20, 0), updater_name text, edits integer,
  share double precision, last_edit timestamptz, only_editor boolean
) LANGUAGE sql STABLE SET jit = off SET enable_mergejoin = off SET enable_nestloop = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH counted AS MATERIALIZED (
    SELECT e.account, e.folder_id, e.updater_id, count(*) AS edits, max(e.edited_at) AS last_edit
    FROM ferry.rule_edits(coalesce($1, now() - interval '30 days')) e
    GROUP BY e.account, e.folder_id, e.updater_id
  ), people AS MATERIALIZED (
    -- The name of a person, from the latest edit.
    SELECT p.account, p.updater_id, v.updater_name
    FROM (SELECT c.account, c.updater_id, max(c.last_edit) AS at FROM counted c GROUP BY c.account, c.updater_id) p
    CROSS JOIN LATERAL (
      SELECT v.updater_name FROM ferry.alert_rule_versions v
      WHERE v.valid_from = p.at AND v.account = p.account AND v.updater_id = p.updater_id LIMIT 1
    ) v
  )
  SELECT c.account, c.folder_id, c.updater_id, p.updater_name, c.edits::int,
    (c.edits / sum(c.edits) OVER folder)::float8, c.last_edit, count(*) OVER folder = 1
  FROM counted c JOIN people p ON p.account = c.account AND p.updater_id = c.updater_id
  WINDOW folder AS (PARTITION BY c.account, c.folder_id)
  ORDER BY count(*) OVER folder, c.account, c.folder_id, c.edits DESC, c.updater_id
$$;

COMMENT ON FUNCTION ferry.editors IS 'Who edited the alert rules of each folder since a time (null: 30 days ago), folders with the fewest editors first. edits: changes of rules that were known before; share: of all edits of the folder. only_editor: nobody else edited the folder in that time.';
--> statement-breakpoint
-- Each edit counts the edits of the same person in the hour that it begins; where there are enough, hours that overlap
-- are one row.
CREATE OR REPLACE FUNCTION ferry.mass_edits(since timestamptz DEFAULT NULL, at_least integer DEFAULT 20)
RETURNS TABLE (
  account text, updater_id numeric(20, 0), updater_name text, began timestamptz, ended timestamptz, rules integer, edits integer,
  folders integer
) LANGUAGE sql STABLE SET jit = off SET enable_mergejoin = off SET enable_nestloop = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH edits AS MATERIALIZED (
    SELECT e.* FROM ferry.rule_edits(coalesce($1, now() - interval '7 days')) e
  ), instants AS (
    SELECT e.account, e.updater_id, e.edited_at, count(*) AS edits FROM edits e GROUP BY e.account, e.updater_id, e.edited_at
  ), hours AS (
    SELECT i.account, i.updater_id, i.edited_at,
      sum(i.edits) OVER (PARTITION BY i.account, i.updater_id ORDER BY i.edited_at
        RANGE BETWEEN CURRENT ROW AND interval '1 hour' FOLLOWING) AS edits
    FROM instants i
  ), chained AS (
    SELECT h.account, h.updater_id, h.edited_at,
      h.edited_at - lag(h.edited_at) OVER (PARTITION BY h.account, h.updater_id ORDER BY h.edited_at) > interval '1 hour' AS is_new
    FROM hours h WHERE h.edits >= $2
  ), numbered AS (
    SELECT c.*, count(*) FILTER (WHERE c.is_new) OVER (PARTITION BY c.account, c.updater_id ORDER BY c.edited_at) AS burst
    FROM chained c
  ), bursts AS MATERIALIZED (
    SELECT n.account, n.updater_id, min(n.edited_at) AS began, max(n.edited_at) + interval '1 hour' AS until
    FROM numbered n GROUP BY n.account, n.updater_id, n.burst
  ), counted AS (
    SELECT b.account, b.updater_id, b.began, max(e.edited_at) AS ended, count(DISTINCT e.id) AS rules, count(*) AS edits,
      count(DISTINCT e.folder_id) AS folders, max(e.id) FILTER (WHERE e.edited_at = b.began) AS first_rule
    FROM bursts b
    JOIN edits e ON e.account = b.account AND e.updater_id = b.updater_id AND e.edited_at BETWEEN b.began AND b.until
    GROUP BY b.account, b.updater_id, b.began
  )
  SELECT c.account, c.updater_id, v.updater_name, c.began, c.ended, c.rules::int, c.edits::int, c.folders::int
  FROM counted c
  JOIN ferry.alert_rule_versions v ON v.id = c.first_rule AND v.account = c.account AND v.valid_from = c.began
  WHERE c.rules >= $2
  ORDER BY c.rules DESC, c.began, c.account, c.updater_id
$$;

COMMENT ON FUNCTION ferry.mass_edits IS 'Who edited many alert rules within an hour, since a time (null: seven days ago), the most rules first. One row lasts as long as at_least rules (20 by default) are edited in every hour of it; began and ended are the first and the last edit, as observed.';
--> statement-breakpoint
-- Episodes of the period, and before it those that the first ones may have followed at once.
CREATE OR REPLACE FUNCTION ferry.rules_noisy(
  since timestamptz DEFAULT NULL, flap_within interval DEFAULT '10 minutes', day_begins time DEFAULT '07:00',
  day_ends time DEFAULT '22:00'
) RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, episodes integer,
  hours double precision, flaps integer, night_share double precision, last_began timestamptz, firing boolean
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH spaced AS (
    SELECT f.account, f.id, f.began, f.ended, lag(f.ended) OVER (PARTITION BY f.id, f.account ORDER BY f.began) AS ended_before
    FROM (
      SELECT e.account, e.id, e.began, e.ended FROM ferry.alert_rule_firings e
      WHERE e.ended > coalesce($1, now() - interval '7 days') - $2 AND e.ended < 'infinity'
      UNION ALL
      SELECT e.account, e.id, e.began, NULL FROM ferry.alert_rule_firings e WHERE e.ended IS NULL
    ) f
  ), episodes AS MATERIALIZED (
    SELECT * FROM spaced s WHERE s.ended IS NULL OR s.ended > coalesce($1, now() - interval '7 days')
  ), rules AS MATERIALIZED (
    SELECT r.account, r.id, v.name, v.folder_id, v.team, v.timezone
    FROM (SELECT e.account, e.id FROM episodes e GROUP BY e.id, e.account) r
    CROSS JOIN LATERAL (
      SELECT v.name, v.folder_id, v.team, v.timezone FROM ferry.alert_rule_versions v
      WHERE v.id = r.id AND v.account = r.account ORDER BY v.valid_from DESC LIMIT 1
    ) v
  ), zones AS MATERIALIZED (
    SELECT z.timezone, ferry.zone_of(z.timezone) AS zone FROM (SELECT DISTINCT r.timezone FROM rules r) z
  ), counted AS (
    SELECT e.account, e.id, count(*) AS episodes,
      sum(extract(epoch FROM coalesce(e.ended, now()) - greatest(e.began, coalesce($1, now() - interval '7 days')))) / 3600 AS hours,
      count(*) FILTER (WHERE e.began - e.ended_before <= $2) AS flaps,
      count(*) FILTER (WHERE (e.began AT TIME ZONE z.zone)::time < $3 OR (e.began AT TIME ZONE z.zone)::time >= $4) AS at_night,
      max(e.began) AS last_began, bool_or(e.ended IS NULL) AS firing
    FROM episodes e
    JOIN rules r ON r.id = e.id AND r.account = e.account
    JOIN zones z ON z.timezone IS NOT DISTINCT FROM r.timezone
    GROUP BY e.id, e.account
  )
  SELECT r.account, r.id, r.name, r.folder_id, r.team, c.episodes::int, c.hours::float8, c.flaps::int,
    c.at_night / c.episodes::float8, c.last_began, c.firing
  FROM counted c JOIN rules r ON r.id = c.id AND r.account = c.account
  ORDER BY c.episodes DESC, c.hours DESC, r.account, r.id
$$;

COMMENT ON FUNCTION ferry.rules_noisy IS 'The alert rules that fired since a time (null: seven days ago), the one with the most episodes first. hours: how long they fired in that time. flaps: episodes that began at most flap_within after the one before had ended. night_share: the share of episodes that began before day_begins or from day_ends on, in the rule''s own time zone (Asia/Shanghai if it has none).';
