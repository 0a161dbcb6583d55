DROP INDEX "ferry"."sync_runs_complete";--> statement-breakpoint
ALTER TABLE "ferry"."platform_limits" ADD COLUMN "calls_per_minute" integer;--> statement-breakpoint
ALTER TABLE "ferry"."inventory_promises" ADD COLUMN "runs_kept" interval DEFAULT '90 days' NOT NULL;--> statement-breakpoint
CREATE INDEX "platform_calls_refused" ON "ferry"."platform_calls" USING btree ("started") WHERE "ferry"."platform_calls"."error_code" is not null;--> statement-breakpoint
CREATE INDEX "sync_runs_failed" ON "ferry"."sync_runs" USING btree ("account","resource","id" DESC NULLS LAST) WHERE "ferry"."sync_runs"."status" in ('failed', 'partial');--> statement-breakpoint
CREATE INDEX "sync_runs_by_start" ON "ferry"."sync_runs" USING btree ("started_at");--> statement-breakpoint
CREATE INDEX "sync_runs_complete" ON "ferry"."sync_runs" USING btree ("account","resource",("scope" -> 'folders'),"id" DESC NULLS LAST) WHERE "ferry"."sync_runs"."status" in ('succeeded', 'held');
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.call_latency(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, operation text, calls integer, unanswered integer, p50 interval, p95 interval, p99 interval, longest interval
) LANGUAGE sql STABLE AS $$
  SELECT c.account, c.operation, count(*)::integer, count(*) FILTER (WHERE c.http_status IS NULL)::integer,
    make_interval(secs => percentile_cont(0.5) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => percentile_cont(0.95) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => percentile_cont(0.99) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => max(e.seconds))
  FROM ferry.platform_limits l
  JOIN ferry.platform_calls c ON c.limit_key = l.limit_key AND c.operation = l.operation
  CROSS JOIN LATERAL (
    SELECT CASE WHEN c.http_status IS NOT NULL THEN extract(epoch FROM c.finished - c.started)::double precision END AS seconds
  ) e
  WHERE c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY c.account, c.operation
  ORDER BY c.account, c.operation
$$;

COMMENT ON FUNCTION ferry.call_latency IS 'How long the platform took to answer: account, operation, calls, unanswered (without an HTTP status), and p50, p95, p99 and longest of the answered ones. Since: one day ago by default.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.calls_refused(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, operation text, error_code text, http_status integer, calls integer, first_at timestamptz, last_at timestamptz,
  request_ids text[]
) LANGUAGE sql STABLE AS $$
  SELECT c.account, c.operation, c.error_code, c.http_status, count(*)::integer, min(c.started), max(c.started),
    (array_agg(c.request_id ORDER BY c.started DESC) FILTER (WHERE c.request_id IS NOT NULL))[1:5]
  FROM ferry.platform_calls c
  WHERE c.error_code IS NOT NULL AND c.started >= coalesce($1, now() - interval '7 days')
  GROUP BY c.account, c.operation, c.error_code, c.http_status
  ORDER BY count(*) DESC, c.account, c.operation, c.error_code, c.http_status
$$;

COMMENT ON FUNCTION ferry.calls_refused IS 'Calls that the platform did not accept or answer, by code, the most frequent first: account, operation, error_code, http_status (null if there was no answer), calls, first_at, last_at, and the request_ids of the last five, for the platform''s support. Since: 7 days ago by default.';
--> statement-breakpoint
-- One look into the index for each account and inventory, however many runs there are.
CREATE OR REPLACE VIEW ferry.inventories AS
  WITH RECURSIVE synced AS (
    (SELECT account, resource FROM ferry.sync_runs ORDER BY account, resource LIMIT 1)
    UNION ALL
    SELECT n.account, n.resource FROM synced s CROSS JOIN LATERAL (
      SELECT r.account, r.resource FROM ferry.sync_runs r WHERE (r.account, r.resource) > (s.account, s.resource)
      ORDER BY r.account, r.resource LIMIT 1
    ) n
  )
  SELECT account, resource AS inventory FROM synced
  UNION
  SELECT account, resource FROM ferry.inventory_promises;

COMMENT ON VIEW ferry.inventories IS 'Each inventory of each account that was ever synced, or that a worker has promised to sync.';
COMMENT ON COLUMN ferry.inventories.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.inventories.inventory IS 'alert-rules or mcp-servers.';
--> statement-breakpoint
-- Goes by the limits, so that the index on their calls is used.
CREATE OR REPLACE FUNCTION ferry.limit_use(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, operation text, calls integer, allowed integer, share double precision, refused integer
) LANGUAGE sql STABLE AS $$
  SELECT date_trunc('minute', c.started), string_agg(DISTINCT c.account, ', ' ORDER BY c.account), l.operation,
    count(*)::integer, max(l.calls_per_minute), count(*)::double precision / max(l.calls_per_minute),
    count(*) FILTER (WHERE c.http_status = 429)::integer
  FROM ferry.platform_limits l
  JOIN ferry.platform_calls c ON c.limit_key = l.limit_key AND c.operation = l.operation
  WHERE c.counted_by >= coalesce($1, now() - interval '1 hour') AND c.started >= coalesce($1, now() - interval '1 hour')
  GROUP BY date_trunc('minute', c.started), l.limit_key, l.operation
  ORDER BY date_trunc('minute', c.started) DESC, l.operation, 2
$$;

COMMENT ON FUNCTION ferry.limit_use IS 'How much of each limit was used, minute by minute, the latest first: minute, account (several, if they share the limit), operation, calls that began in it, allowed (calls in a minute, by the settings of the last worker), share of them, and refused (answered 429). Minutes without a call have no row. Since: one hour ago by default.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.nights(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, night date, status text, snapshot bigint, taken_at timestamptz, alert_rules_run bigint, mcp_servers_run bigint
) LANGUAGE sql STABLE AS $$
  WITH taken AS (
    SELECT s.account, s.id, s.status, s.taken_at, s.alert_rules_run, s.mcp_servers_run, s.slot, t.timezone, t.promise,
      coalesce(s.slot, s.taken_at) AS at, (coalesce(s.slot, s.taken_at) AT TIME ZONE t.timezone)::date AS night,
      -- The interval of the nightly schedule: the promise without its hour.
      greatest(round(extract(epoch FROM t.promise - interval '1 hour') / 86400), 1)::integer AS every
    FROM ferry.snapshots s
    LEFT JOIN ferry.inventory_promises p ON p.account = s.account AND p.resource = 'mcp-servers'
    CROSS JOIN LATERAL (
      SELECT coalesce(p.timezone, 'UTC') AS timezone, coalesce(p.promise, interval '25 hours') AS promise
    ) t
    -- The snapshot before them may begin a gap.
    WHERE s.taken_at >= coalesce($1, now() - interval '30 days') - t.promise - interval '1 day'
  ), found AS (
    -- Of several snapshots of a night, the one of the schedule, else the last.
    SELECT DISTINCT ON (t.account, t.night) t.* FROM taken t ORDER BY t.account, t.night, t.slot IS NULL, t.id DESC
  ), missed AS (
    SELECT f.account, f.night + n AS night, f.timezone
    FROM (
      SELECT o.*, lead(o.night) OVER (PARTITION BY o.account ORDER BY o.night) AS next_night FROM found o
    ) f
    CROSS JOIN LATERAL generate_series(f.every, coalesce(
      f.next_night - f.night - 1,
      -- Tonight counts as missed an hour after its time.
      floor(extract(epoch FROM now() - f.at - (greatest(f.promise - f.every * interval '1 day', interval '1 hour'))) / 86400)::integer), f.every) n
  )
  SELECT n.account, n.night, n.status, n.id, n.taken_at, n.alert_rules_run, n.mcp_servers_run
  FROM (
    SELECT f.account, f.night, f.status, f.id, f.taken_at, f.alert_rules_run, f.mcp_servers_run, f.timezone FROM found f
    UNION ALL
    SELECT m.account, m.night, 'missed', NULL, NULL, NULL, NULL, m.timezone FROM missed m
  ) n
  WHERE n.night >= (coalesce($1, now() - interval '30 days') AT TIME ZONE n.timezone)::date
  ORDER BY n.night DESC, n.account
$$;

COMMENT ON FUNCTION ferry.nights IS 'Each night since the first snapshot: account, night (the date in FERRY_TIMEZONE), status (succeeded, held, partial, or missed: no snapshot), snapshot (snapshots.id), taken_at, and its two runs. Since: 30 days ago by default.';
--> statement-breakpoint
-- STABLE, so that in WHERE it is asked once, before any row is read and also if there are none; and so that it judges what
-- the query sees, not what was written since.
CREATE OR REPLACE FUNCTION ferry.require_fresh(inventory text, max_age interval, account text DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
#variable_conflict use_column
DECLARE
  v_oldest record;
BEGIN
  IF $1 IS NULL OR $1 NOT IN ('alert-rules', 'mcp-servers') THEN
    RAISE EXCEPTION 'There is no inventory %; there are alert-rules and mcp-servers.', coalesce(quote_literal($1), 'null')
      USING ERRCODE = 'invalid_parameter_value';
  ELSIF $2 IS NULL OR $2 < interval '0' THEN
    RAISE EXCEPTION 'require_fresh needs to know how old the data may be, such as ''5 minutes''.'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT f.account, f.last_complete_at, f.age INTO v_oldest FROM ferry.freshness f
    WHERE f.inventory = $1 AND f.account = coalesce($3, f.account)
    ORDER BY f.age < interval '0' DESC NULLS FIRST, f.age DESC LIMIT 1;
  IF NOT FOUND OR v_oldest.age IS NULL THEN
    RAISE EXCEPTION 'The % of % were never read completely.', $1,
      coalesce('account ' || quote_literal(coalesce(v_oldest.account, $3)), 'every account')
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = '`ferry freshness` says why.';
  ELSIF v_oldest.age > $2 OR v_oldest.age < interval '0' THEN
    RAISE EXCEPTION 'The % of account % are too old: they were last read completely at % (% ago), and may be % old.', $1,
      quote_literal(v_oldest.account), date_trunc('second', v_oldest.last_complete_at),
      date_trunc('second', v_oldest.age), $2
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = '`ferry freshness` says why.';
  END IF;
  RETURN true;
END $$;

COMMENT ON FUNCTION ferry.require_fresh IS 'Returns true if the last complete listing of the inventory (alert-rules or mcp-servers) is not older than max_age, for one account or, without one, for each. Else it raises an error that says how old it is. Use it in WHERE: there it is asked once, before any row is read.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.runs_health(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, inventory text, runs integer, succeeded integer, held integer, partial integer, failed integer,
  skipped integer, running integer, added integer, changed integer, removed integer, quarantined integer, requests integer,
  p50 interval, p95 interval, longest interval, last_error_code text
) LANGUAGE sql STABLE AS $$
  SELECT r.account, r.resource, count(*)::integer, count(*) FILTER (WHERE r.status = 'succeeded')::integer,
    count(*) FILTER (WHERE r.status = 'held')::integer, count(*) FILTER (WHERE r.status = 'partial')::integer,
    count(*) FILTER (WHERE r.status = 'failed')::integer, count(*) FILTER (WHERE r.status = 'skipped')::integer,
    count(*) FILTER (WHERE r.status = 'running')::integer, sum(r.added)::integer, sum(r.changed)::integer,
    sum(r.removed)::integer, sum(r.quarantined)::integer, sum(r.requests)::integer,
    make_interval(secs => percentile_cont(0.5) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => percentile_cont(0.95) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => max(e.seconds)),
    (SELECT l.error_code FROM ferry.sync_runs l
     WHERE l.id = max(r.id) FILTER (WHERE r.error_code IS NOT NULL))
  FROM ferry.sync_runs r
  CROSS JOIN LATERAL (
    SELECT CASE WHEN r.status <> 'skipped' THEN extract(epoch FROM r.finished_at - r.started_at)::double precision END AS seconds
  ) e
  WHERE r.started_at >= coalesce($1, now() - interval '1 day')
  GROUP BY r.account, r.resource
  ORDER BY r.account, r.resource
$$;

COMMENT ON FUNCTION ferry.runs_health IS 'How the runs of each inventory ended: account, inventory, runs, how many of each status, the sums of their rows and requests, how long they took (p50, p95, longest; without skipped ones), and the last error code. Since: one day ago by default.';
--> statement-breakpoint
-- Looks at the complete runs since the last one before `since`. Runs that changed nothing are kept for some time only, so
-- it looks no farther back than that.
CREATE OR REPLACE FUNCTION ferry.blind_spots(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, inventory text, "from" timestamptz, "to" timestamptz, lasted interval, late_from timestamptz,
  fresh_again_at timestamptz, error_code text
) LANGUAGE sql STABLE AS $$
  SELECT i.account, i.inventory, g.at, g.next_at, coalesce(g.next_at, now()) - g.at, g.at + i.promise, g.next_finished_at,
    l.error_code
  FROM (
    SELECT n.account, n.inventory, p.promise, p.folders, s.since, coalesce(
      (SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= s.since ORDER BY r.started_at LIMIT 1),
      9223372036854775807) AS run_since
    FROM ferry.inventories n
    JOIN ferry.inventory_promises p ON p.account = n.account AND p.resource = n.inventory
    CROSS JOIN LATERAL (
      SELECT greatest(coalesce($1, now() - interval '7 days'), now() - p.runs_kept) AS since
    ) s
    OFFSET 0
  ) i
  CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT c.id, c.at, lead(c.id) OVER w AS next_id, lead(c.at) OVER w AS next_at, lead(c.finished_at) OVER w AS next_finished_at
      FROM (
        SELECT r.id, least(r.started_at, r.finished_at) AS at, r.finished_at FROM ferry.sync_runs r
        WHERE r.account = i.account AND r.resource = i.inventory AND r.status IN ('succeeded', 'held')
          AND r.scope -> 'folders' = i.folders
          AND r.id >= coalesce(
            (SELECT e.id FROM ferry.sync_runs e
             WHERE e.account = i.account AND e.resource = i.inventory AND e.status IN ('succeeded', 'held')
               AND e.scope -> 'folders' = i.folders AND e.id < i.run_since
             ORDER BY e.id DESC LIMIT 1), 0)
      ) c
      WINDOW w AS (ORDER BY c.id)
    ) o
    WHERE coalesce(o.next_finished_at, now()) > greatest(o.at + i.promise, i.since)
  ) g
  LEFT JOIN LATERAL (
    SELECT r.error_code FROM ferry.sync_runs r
    WHERE r.account = i.account AND r.resource = i.inventory AND r.id > g.id AND r.id < coalesce(g.next_id, r.id + 1)
      AND r.status IN ('failed', 'partial')
    ORDER BY r.id DESC LIMIT 1
  ) l ON true
  ORDER BY g.at DESC, i.account, i.inventory
$$;

COMMENT ON FUNCTION ferry.blind_spots IS 'When nothing complete was read for longer than promised, the latest first: account, inventory, from (the last complete listing before it), to (the next one; null if there is none yet), lasted, late_from and fresh_again_at (between them the data was older than promised), error_code (of the last run in it that failed). Since: 7 days ago by default.';
--> statement-breakpoint
-- How fresh each inventory is, of each account that was ever synced or that a worker has promised to sync. A listing is
-- complete if its run applied all of it (succeeded, or held), and counts if it includes the folders of the promise.
CREATE OR REPLACE VIEW ferry.freshness AS
  WITH judged AS (
    SELECT k.account, k.inventory, c.id, c.at, a.age, p.promise, p.schedule,
      CASE WHEN c.at IS NULL THEN 'never' WHEN p.promise IS NULL THEN 'no promise'
        WHEN a.age > p.promise OR a.age < interval '0' THEN 'late' ELSE 'fresh' END AS state
    FROM ferry.inventories k
    LEFT JOIN ferry.inventory_promises p ON p.account = k.account AND p.resource = k.inventory
    LEFT JOIN LATERAL (
      -- The newest by its id: after the clock was set back, older runs have later times.
      SELECT o.id, o.at FROM (
        (SELECT r.id, least(r.started_at, r.finished_at) AS at FROM ferry.sync_runs r
         WHERE r.account = k.account AND r.resource = k.inventory AND r.status IN ('succeeded', 'held')
           AND r.scope -> 'folders' = p.folders
         ORDER BY r.id DESC LIMIT 1)
        UNION ALL
        (SELECT r.id, least(r.started_at, r.finished_at) FROM ferry.sync_runs r
         WHERE r.account = k.account AND r.resource = k.inventory AND r.status IN ('succeeded', 'held')
           AND r.scope -> 'folders' = '["0"]'
         ORDER BY r.id DESC LIMIT 1)
        UNION ALL
        (SELECT r.id, least(r.started_at, r.finished_at) FROM ferry.sync_runs r
         WHERE r.account = k.account AND r.resource = k.inventory AND r.status IN ('succeeded', 'held')
           AND p.folders IS NULL
         ORDER BY r.id DESC LIMIT 1)
      ) o ORDER BY o.id DESC LIMIT 1
    ) c ON true
    CROSS JOIN LATERAL (SELECT clock_timestamp() - c.at AS age) a
  )
  SELECT j.account, j.inventory, j.at AS last_complete_at, j.id AS last_complete_run, j.age, j.promise, j.state,
    CASE WHEN j.state NOT IN ('late', 'never') THEN NULL
      WHEN j.age < interval '0' THEN 'clock set back'
      WHEN EXISTS (SELECT FROM ferry.schedule_pauses s WHERE s.schedule = j.schedule AND s.account = j.account) THEN 'paused'
      ELSE coalesce(l.status, u.status, 'no run') END AS why_late,
    l.id AS last_failed_run, l.error_code, l.request_id
  FROM judged j
  -- What was tried since, and ended.
  LEFT JOIN LATERAL (
    SELECT r.id, r.status, r.error_code, r.request_id FROM ferry.sync_runs r
    WHERE r.account = j.account AND r.resource = j.inventory AND r.id > coalesce(j.id, 0)
      AND r.status IN ('failed', 'partial')
    ORDER BY r.id DESC LIMIT 1
  ) l ON j.state IN ('late', 'never')
  LEFT JOIN LATERAL (
    SELECT r.status FROM ferry.sync_runs r
    WHERE r.account = j.account AND r.resource = j.inventory AND r.id > coalesce(j.id, 0) AND r.finished_at IS NULL
    ORDER BY r.id DESC LIMIT 1
  ) u ON j.state IN ('late', 'never')
  ORDER BY j.account, j.inventory;

COMMENT ON VIEW ferry.freshness IS 'How fresh each inventory is: when it was last read completely, how old it may be, and why it is late.';
COMMENT ON COLUMN ferry.freshness.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.freshness.inventory IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.freshness.last_complete_at IS 'When the last complete listing began to be read: what is stored is as the platform had it then, or later. Null if there was none.';
COMMENT ON COLUMN ferry.freshness.last_complete_run IS 'The run (sync_runs.id) that applied it.';
COMMENT ON COLUMN ferry.freshness.age IS 'How long ago that was, by the clock of this database.';
COMMENT ON COLUMN ferry.freshness.promise IS 'How old the inventory may be: three poll intervals, or the interval of the nightly schedule and one hour. Null as long as no worker has run.';
COMMENT ON COLUMN ferry.freshness.state IS 'fresh; late: older than promised; never: no complete listing so far; no promise: no worker has run, so nobody has said how old it may be.';
COMMENT ON COLUMN ferry.freshness.why_late IS 'Why it is late or never: failed, partial (the last run that ended since), running (the first run since has not ended), no run (none was tried since), paused (its schedule is), clock set back (the listing is later than now). Else null.';
COMMENT ON COLUMN ferry.freshness.last_failed_run IS 'The last run since that failed or was partial, if it is late or never.';
COMMENT ON COLUMN ferry.freshness.error_code IS 'The error code of that run.';
COMMENT ON COLUMN ferry.freshness.request_id IS 'The request_id of the call that failed that run, for the platform''s support.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.freshness_daily(since timestamptz DEFAULT NULL)
RETURNS TABLE (account text, inventory text, day date, minutes integer, fresh_minutes integer, share double precision)
LANGUAGE sql STABLE AS $$
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
    JOIN ferry.inventory_promises p ON p.account = i.account AND p.resource = i.inventory
    -- From the first complete listing on.
    CROSS JOIN LATERAL (
      SELECT r.started_at FROM ferry.sync_runs r
      WHERE r.account = i.account AND r.resource = i.inventory AND r.status IN ('succeeded', 'held')
        AND r.scope -> 'folders' = p.folders
      ORDER BY r.id LIMIT 1
    ) f
    CROSS JOIN LATERAL (
      SELECT greatest(coalesce($1, now() - interval '7 days'), now() - p.runs_kept, f.started_at) AS since
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

COMMENT ON FUNCTION ferry.freshness_daily IS 'For how much of each day each inventory was as fresh as promised: account, inventory, day (in FERRY_TIMEZONE), minutes that are over, fresh_minutes, and share of them. A day begins with the first complete listing, and today ends now. Since: 7 days ago by default.';

--> statement-breakpoint
COMMENT ON COLUMN ferry.inventory_promises.runs_kept IS 'For how long runs that changed nothing are kept: reports about the past look no farther back.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_limits.calls_per_minute IS 'How many calls the settings of the last worker allow in a minute; null if no worker has run.';
