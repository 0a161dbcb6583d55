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
  FROM taken t
  JOIN ferry.alert_rule_versions v
    ON v.account = t.account AND v.valid_from <= t.taken_at AND coalesce(v.valid_to, 'infinity') > t.taken_at
  LEFT JOIN firing f ON f.id = v.id AND f.account = v.account
$$;

COMMENT ON FUNCTION ferry.alert_rules_of_night IS 'The alert rules as each account''s snapshot of a night shows them, see ferry.nights; none of an account that has no snapshot of that night. Raises an error if the history starts later.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_servers_of_night(night date)
RETURNS TABLE (
  account text, server_id text, server_name text, team_id numeric(20, 0), status text, auth_mode text, tools jsonb, valid_from timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT s.account, s.server_id, s.server_name, s.team_id, s.status, s.auth_mode, s.tools, s.valid_from
  FROM ferry.nights($1 - 1) n CROSS JOIN LATERAL ferry.mcp_servers_as_of(n.taken_at) s
  WHERE n.night = $1 AND s.account = n.account
$$;

COMMENT ON FUNCTION ferry.mcp_servers_of_night IS 'The MCP servers as each account''s snapshot of a night shows them, see ferry.nights; none of an account that has no snapshot of that night. Raises an error if the history starts later.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_tools_of_night(night date)
RETURNS TABLE (
  account text, tool text, server_id text, server_name text, team_id numeric(20, 0), status text, description text, servers integer
) LANGUAGE sql STABLE AS $$
  SELECT s.account, t.tool ->> 'name' AS tool, s.server_id, s.server_name, s.team_id, s.status, t.tool ->> 'description',
    (count(*) OVER same_name)::int
  FROM ferry.mcp_servers_of_night($1) s CROSS JOIN LATERAL jsonb_array_elements(s.tools) WITH ORDINALITY AS t (tool, position)
  WINDOW same_name AS (PARTITION BY s.account, t.tool ->> 'name')
  ORDER BY s.account, t.tool ->> 'name', s.server_name, s.server_id, t.position
$$;

COMMENT ON FUNCTION ferry.mcp_tools_of_night IS 'The view mcp_tools, as the snapshots of a night show it.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.rules_by_folder_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), rules integer, enabled integer, disabled integer, firing integer,
  debug_log_enabled integer, unowned integer
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.folder_id, count(*)::int AS rules, (count(*) FILTER (WHERE v.enabled))::int,
    (count(*) FILTER (WHERE NOT v.enabled))::int, (count(*) FILTER (WHERE v.triggered))::int,
    (count(*) FILTER (WHERE v.debug_log_enabled))::int, (count(*) FILTER (WHERE v.team IS NULL))::int
  FROM ferry.alert_rules_of_night($1) v
  GROUP BY v.account, v.folder_id
  ORDER BY rules DESC, v.account, v.folder_id
$$;

COMMENT ON FUNCTION ferry.rules_by_folder_of_night IS 'The view rules_by_folder, as the snapshots of a night show it.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.rules_by_team_of_night(night date)
RETURNS TABLE (
  account text, team text, rules integer, enabled integer, disabled integer, firing integer, debug_log_enabled integer, folders integer
) LANGUAGE sql STABLE AS $$
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
CREATE OR REPLACE FUNCTION ferry.rules_unowned_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), id numeric(20, 0), name text, enabled boolean, labels jsonb, creator_name text, updater_name text
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.folder_id, v.id, v.name, v.enabled, v.labels, v.creator_name, v.updater_name
  FROM ferry.alert_rules_of_night($1) v
  WHERE v.team IS NULL
  ORDER BY v.account, v.folder_id, v.name, v.id
$$;

COMMENT ON FUNCTION ferry.rules_unowned_of_night IS 'The view rules_unowned, as the snapshots of a night show it.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_by_team_of_night(night date)
RETURNS TABLE (
  account text, team_id numeric(20, 0), servers integer, enabled integer, tools integer, shared integer, last_change timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT s.account, s.team_id, count(*)::int AS servers, (count(*) FILTER (WHERE s.status = 'enabled'))::int,
    sum(jsonb_array_length(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END))::int,
    (count(*) FILTER (WHERE s.auth_mode = 'shared'))::int, max(s.valid_from)
  FROM ferry.mcp_servers_of_night($1) s
  GROUP BY s.account, s.team_id
  ORDER BY servers DESC, s.account, s.team_id
$$;

COMMENT ON FUNCTION ferry.mcp_by_team_of_night IS 'The view mcp_by_team, as the snapshots of a night show it.';
