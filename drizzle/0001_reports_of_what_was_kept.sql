CREATE OR REPLACE FUNCTION ferry.mcp_servers_as_of(at timestamptz)
RETURNS TABLE (
  account text, server_id text, account_id numeric(20, 0), team_id numeric(20, 0), can_edit boolean, server_name text, description text, transport text, url text, status text, connect_timeout bigint, call_timeout bigint, tool_count bigint, tools jsonb, auth_mode text, created_by numeric(20, 0), created_at bigint, updated_at bigint,
  valid_from timestamptz, valid_to timestamptz, opened_by_run bigint, closed_by_run bigint,
  fingerprint uuid, flags text[], altered text[]
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.server_id, v.account_id, v.team_id, v.can_edit, v.server_name, v.description, v.transport, v.url, v.status, v.connect_timeout, v.call_timeout, v.tool_count, v.tools, v.auth_mode, v.created_by, v.created_at, v.updated_at,
    v.valid_from, v.valid_to, v.opened_by_run, v.closed_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.mcp_server_versions v
  WHERE v.valid_from <= $1 AND (v.valid_to IS NULL OR v.valid_to > $1)
    AND ferry_internal.expect_history($1)
$$;

COMMENT ON FUNCTION ferry.mcp_servers_as_of IS 'The MCP servers as they were known at a moment; the columns of mcp_servers, and valid_to and closed_by_run. For a moment up to settled_at() the answer never changes, but for valid_to and closed_by_run: they are null until a run observes that the version has ended.';
--> statement-breakpoint
-- A version that began at the instant at which the one before it ended is a change. All others are few, and looked up. Before the
-- history starts nobody knows whether a version had one before it.
CREATE OR REPLACE FUNCTION ferry.churn_by_folder(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), added integer, changed integer, removed integer, returned integer, changes integer,
  rules_now integer, first_read integer
) LANGUAGE sql STABLE
SET jit = off SET enable_mergejoin = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH asked AS MATERIALIZED (
    SELECT greatest(coalesce($1, now() - interval '7 days'), (SELECT h.starts_at FROM ferry.history h)) AS since
  ), alone AS MATERIALIZED (
    SELECT coalesce(b.account, e.account) AS account, coalesce(b.id, e.id) AS id, coalesce(b.at, e.at) AS at, b.folder_id,
      b.id IS NULL AS is_removed
    FROM (
      SELECT v.id, v.account, v.valid_from AS at, v.folder_id FROM ferry.alert_rule_versions v
      WHERE v.valid_from >= (SELECT asked.since FROM asked) AND v.valid_from < 'infinity'
        AND v.appeared IS DISTINCT FROM 'first reading'
    ) b
    FULL JOIN (
      SELECT v.id, v.account, v.valid_to AS at FROM ferry.alert_rule_versions v
      WHERE v.valid_to >= (SELECT asked.since FROM asked) AND v.valid_to < 'infinity'
    ) e ON e.id = b.id AND e.account = b.account AND e.at = b.at
    WHERE b.id IS NULL OR e.id IS NULL
  ), counted AS (
    SELECT v.account, v.folder_id, count(*) FILTER (WHERE v.appeared IS DISTINCT FROM 'first reading') AS began,
      count(*) FILTER (WHERE v.appeared = 'first reading') AS first_read, 0 AS added, 0 AS returned, 0 AS removed
    FROM ferry.alert_rule_versions v
    WHERE v.valid_from >= (SELECT asked.since FROM asked) AND v.valid_from < 'infinity'
    GROUP BY v.account, v.folder_id
    UNION ALL
    SELECT a.account, coalesce(a.folder_id, o.folder_id), 0, 0, count(*) FILTER (WHERE NOT a.is_removed AND o.id IS NULL),
      count(*) FILTER (WHERE NOT a.is_removed AND o.id IS NOT NULL), count(*) FILTER (WHERE a.is_removed)
    FROM alone a
    LEFT JOIN LATERAL (
      SELECT o.id, o.folder_id FROM ferry.alert_rule_versions o
      WHERE o.id = a.id AND o.account = a.account AND o.valid_from < a.at ORDER BY o.valid_from DESC LIMIT 1
    ) o ON true
    GROUP BY 1, 2
  ), summed AS (
    SELECT c.account, c.folder_id, sum(c.began) AS began, sum(c.first_read) AS first_read, sum(c.added) AS added, sum(c.returned) AS returned,
      sum(c.removed) AS removed
    FROM counted c GROUP BY c.account, c.folder_id
  ), present AS (
    SELECT v.account, v.folder_id, count(*) AS rules FROM ferry.alert_rule_versions v
    WHERE v.valid_to IS NULL GROUP BY v.account, v.folder_id
  )
  SELECT s.account, s.folder_id, s.added::int, (s.began - s.added - s.returned)::int, s.removed::int, s.returned::int,
    (s.began + s.removed)::int, coalesce(p.rules, 0)::int, s.first_read::int
  FROM summed s LEFT JOIN present p ON p.account = s.account AND p.folder_id = s.folder_id
  ORDER BY 7 DESC, s.account, s.folder_id
$$;

COMMENT ON FUNCTION ferry.churn_by_folder IS 'How many alert rules of each folder were added, changed, removed and returned since a time (null: seven days ago), as often as it was observed, but not before history_start(), the folder with the most changes first. rules_now: how many rules it has. first_read: how many a first reading found, which are no change. A rule that moved is a change of the folder it is in now.';
--> statement-breakpoint
-- A batch that a person says was sent has no answer, or the error of the last one: the platform accepted nothing. Of a batch that was
-- split after the call, a part of its lines may be what the call was accepted for.
CREATE OR REPLACE FUNCTION ferry.import_throughput(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, calls integer, rows integer, allowed integer, share double precision
) LANGUAGE sql STABLE SET enable_seqscan = off SET jit = off AS $$
  SELECT date_trunc('minute', c.started), c.account, count(*)::integer,
    coalesce(sum(a.rows), 0)::integer,
    max(c.calls_per_minute), count(*)::double precision / max(c.calls_per_minute)
  FROM ferry_internal.limited_calls c
  LEFT JOIN ferry.import_batches b ON b.id = c.batch_id
  LEFT JOIN LATERAL (
    SELECT sum(a.rows) AS rows FROM ferry.import_batches a
    WHERE a.import_id = b.import_id AND a.from_line BETWEEN b.from_line AND b.to_line AND a.call_id = c.id
      AND a.state = 'sent' AND a.http_status IS NOT NULL AND a.error_code IS NULL
  ) a ON true
  WHERE c.operation = 'import-subscribers'
    AND c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY date_trunc('minute', c.started), c.account
  ORDER BY date_trunc('minute', c.started) DESC, c.account
$$;

COMMENT ON FUNCTION ferry.import_throughput IS 'How fast imports are sent, minute by minute, the latest first: minute, account, calls, rows that the platform accepted with them, allowed (calls in a minute, by the settings of the last worker; accounts of one limitGroup share them), and share of them. Minutes without a call have no row. Since: one day ago by default.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.alert_rules_as_of(at timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), account_id numeric(20, 0), folder_id numeric(20, 0), name text, labels jsonb, ds_type text, enabled boolean, debug_log_enabled boolean, cron_pattern text, timezone text, delay_seconds bigint, creator_id numeric(20, 0), creator_name text, updater_id numeric(20, 0), updater_name text, created_at bigint, updated_at bigint,
  triggered boolean,
  valid_from timestamptz, valid_to timestamptz, opened_by_run bigint, closed_by_run bigint,
  fingerprint uuid, flags text[], altered text[]
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.id, v.account_id, v.folder_id, v.name, v.labels, v.ds_type, v.enabled, v.debug_log_enabled, v.cron_pattern, v.timezone, v.delay_seconds, v.creator_id, v.creator_name, v.updater_id, v.updater_name, v.created_at, v.updated_at,
    -- Episodes do not overlap: the youngest begun by then decides. (As EXISTS it would be hashed: all episodes read.)
    coalesce((SELECT f.ended IS NULL OR f.ended > $1 FROM ferry.alert_rule_firings f
              WHERE f.id = v.id AND f.account = v.account AND f.began <= $1
              ORDER BY f.began DESC LIMIT 1), false) AS triggered,
    v.valid_from, v.valid_to, v.opened_by_run, v.closed_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.alert_rule_versions v
  WHERE v.valid_from <= $1 AND (v.valid_to IS NULL OR v.valid_to > $1)
    AND ferry_internal.expect_history($1)
$$;

COMMENT ON FUNCTION ferry.alert_rules_as_of IS 'The alert rules as they were known at a moment; the columns of alert_rules, and valid_to and closed_by_run. For a moment up to settled_at() the answer never changes, but for valid_to and closed_by_run: they are null until a run observes that the version has ended.';
