ALTER TABLE "ferry"."history" ADD COLUMN "runs_start_at" timestamp with time zone;
--> statement-breakpoint
COMMENT ON TABLE ferry.history IS 'From when on the history is complete. No row for as long as nothing of it was removed for its age.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.history.starts_at IS 'Versions and firings that ended before may have been removed. -infinity if none have been.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.history.runs_start_at IS 'Runs that changed nothing and finished before may have been removed: reports look no farther back for what was not read. Null if none have been.';
--> statement-breakpoint
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
--> statement-breakpoint
-- Looks at the complete runs since the last one before `since`. Runs that changed nothing are kept for some time only, so
-- it looks no farther back than that: what is left of the time before does not say when a gap began.
CREATE OR REPLACE FUNCTION ferry.blind_spots(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, inventory text, "from" timestamptz, "to" timestamptz, lasted interval, late_from timestamptz,
  fresh_again_at timestamptz, error_code text
) LANGUAGE sql STABLE SET jit = off AS $$
  SELECT i.account, i.inventory, g.at, g.next_at, coalesce(g.next_at, now()) - g.at,
    -- What a run has read is there once it has finished: until then the gap before it lasts.
    greatest(g.at + i.target, g.finished_at), g.next_finished_at,
    l.error_code
  FROM (
    SELECT n.account, n.inventory, p.target, p.folders, k.known_from, s.since, coalesce(
      (SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= s.since ORDER BY r.started_at LIMIT 1),
      9223372036854775807) AS run_since
    FROM ferry.inventories n
    JOIN ferry.freshness_targets p ON p.account = n.account AND p.resource = n.inventory
    CROSS JOIN LATERAL (
      SELECT greatest(now() - p.runs_kept, (SELECT h.runs_start_at FROM ferry.history h)) AS known_from
    ) k
    CROSS JOIN LATERAL (SELECT greatest(coalesce($1, now() - interval '7 days'), k.known_from) AS since) s
    OFFSET 0
  ) i
  CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT c.id, CASE WHEN lead(c.id) OVER w IS NULL THEN c.at ELSE greatest(c.at, i.known_from) END AS at, c.finished_at,
        lead(c.id) OVER w AS next_id, lead(c.at) OVER w AS next_at, lead(c.finished_at) OVER w AS next_finished_at
      FROM (
        SELECT r.id, least(r.started_at, r.finished_at) AS at, r.finished_at FROM ferry_internal.complete_runs r
        WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders IN (i.folders, '["0"]')
          -- Two looks into the index, each in its order.
          AND r.id >= greatest(
            (SELECT e.id FROM ferry_internal.complete_runs e
             WHERE e.account = i.account AND e.inventory = i.inventory AND e.folders = i.folders AND e.id < i.run_since
             ORDER BY e.id DESC LIMIT 1),
            (SELECT e.id FROM ferry_internal.complete_runs e
             WHERE e.account = i.account AND e.inventory = i.inventory AND e.folders = '["0"]' AND e.id < i.run_since
             ORDER BY e.id DESC LIMIT 1), 0)
      ) c
      WINDOW w AS (ORDER BY c.id)
    ) o
    WHERE coalesce(o.next_finished_at, now()) > greatest(o.at + i.target, i.since)
  ) g
  LEFT JOIN LATERAL (
    SELECT r.error_code FROM ferry.sync_runs r
    WHERE r.account = i.account AND r.resource = i.inventory AND r.id > g.id AND r.id < coalesce(g.next_id, r.id + 1)
      AND r.status IN ('failed', 'partial')
    ORDER BY r.id DESC LIMIT 1
  ) l ON true
  ORDER BY g.at DESC, i.account, i.inventory
$$;

COMMENT ON FUNCTION ferry.blind_spots IS 'Times in which no complete listing was read for longer than the freshness target, latest first: account, inventory, from (the last complete listing before it, or the instant up to which runs were removed), to (the next one; null if there is none yet), lasted, late_from and fresh_again_at (between them the data was older than its freshness target), error_code (of the last run in it that failed). Since: 7 days ago by default.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.freshness_daily(since timestamptz DEFAULT NULL)
RETURNS TABLE (account text, inventory text, day date, minutes integer, fresh_minutes integer, share double precision)
LANGUAGE sql STABLE SET jit = off AS $$
  WITH late AS MATERIALIZED (
    SELECT b.account, b.inventory, b.late_from, coalesce(b.fresh_again_at, now()) AS fresh_again_at
    FROM ferry.blind_spots(coalesce($1, now() - interval '7 days')) b
  )
  SELECT d.account, d.inventory, d.day, round(d.seconds / 60)::integer, round((d.seconds - o.seconds) / 60)::integer,
    round(((d.seconds - o.seconds) / d.seconds)::numeric, 6)::double precision
  FROM (
    SELECT i.account, i.inventory, n.day::date AS day, b."from", b."to",
      extract(epoch FROM b."to" - b."from")::double precision AS seconds
    FROM ferry.inventories i
    JOIN ferry.freshness_targets p ON p.account = i.account AND p.resource = i.inventory
    -- From the first complete listing on.
    CROSS JOIN LATERAL (
      SELECT o.finished_at FROM (
        (SELECT r.id, r.finished_at FROM ferry_internal.complete_runs r
         WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders = p.folders
         ORDER BY r.id LIMIT 1)
        UNION ALL
        (SELECT r.id, r.finished_at FROM ferry_internal.complete_runs r
         WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders = '["0"]'
         ORDER BY r.id LIMIT 1)
      ) o ORDER BY o.id LIMIT 1
    ) f
    CROSS JOIN LATERAL (
      SELECT greatest(coalesce($1, now() - interval '7 days'), now() - p.runs_kept, (SELECT h.runs_start_at FROM ferry.history h), f.finished_at) AS since
    ) s
    CROSS JOIN LATERAL generate_series(
      date_trunc('day', s.since AT TIME ZONE p.timezone), now() AT TIME ZONE p.timezone, interval '1 day') n (day)
    CROSS JOIN LATERAL (
      SELECT greatest(n.day AT TIME ZONE p.timezone, s.since) AS "from",
        least((n.day + interval '1 day') AT TIME ZONE p.timezone, now()) AS "to"
    ) b
    WHERE b."to" > b."from"
  ) d
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(extract(epoch FROM least(l.fresh_again_at, d."to") - greatest(l.late_from, d."from"))), 0)
      ::double precision AS seconds
    FROM late l
    WHERE l.account = d.account AND l.inventory = d.inventory AND l.late_from < d."to" AND l.fresh_again_at > d."from"
  ) o
  ORDER BY d.day DESC, d.account, d.inventory
$$;

COMMENT ON FUNCTION ferry.freshness_daily IS 'For how much of each day each inventory was within its freshness target: account, inventory, day (in FERRY_TIMEZONE), minutes that are over, fresh_minutes, and share of them. A day begins with the first complete listing, and today ends now. Since: 7 days ago by default.';
