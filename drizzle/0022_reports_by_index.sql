-- As its owner: readers may not see the hashes of keys that it compares. By indexes, and not compiled: a planner that does not
-- know `since` would read the whole table.
CREATE OR REPLACE FUNCTION ferry.call_latency(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, operation text, calls integer, unanswered integer, p50 interval, p95 interval, p99 interval, longest interval
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' SET enable_seqscan = off SET jit = off AS $$
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
CREATE OR REPLACE FUNCTION ferry.import_throughput(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, calls integer, rows integer, allowed integer, share double precision
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' SET enable_seqscan = off SET jit = off AS $$
  SELECT date_trunc('minute', c.started), c.account, count(*)::integer,
    coalesce(sum(b.rows) FILTER (WHERE b.state = 'sent' AND b.call_id = c.id), 0)::integer,
    max(l.calls_per_minute), count(*)::double precision / max(l.calls_per_minute)
  FROM ferry.platform_limits l
  JOIN ferry.platform_calls c ON c.limit_key = l.limit_key AND c.operation = l.operation
  LEFT JOIN ferry.import_batches b ON b.id = c.batch_id
  WHERE l.operation = 'import-subscribers'
    AND c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY date_trunc('minute', c.started), c.account
  ORDER BY date_trunc('minute', c.started) DESC, c.account
$$;

COMMENT ON FUNCTION ferry.import_throughput IS 'How fast imports are sent, minute by minute, the latest first: minute, account, calls, rows that the platform accepted with them, allowed (calls in a minute, by the settings of the last worker; accounts of one limitGroup share them), and share of them. Minutes without a call have no row. Since: one day ago by default.';
--> statement-breakpoint
-- Goes by the limits, so that the index on their calls is used.
-- As its owner: readers may not see the hashes of keys that it compares. By indexes, and not compiled: a planner that does not
-- know `since` would read the whole table.
CREATE OR REPLACE FUNCTION ferry.limit_use(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, operation text, calls integer, allowed integer, share double precision, refused integer
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' SET enable_seqscan = off SET jit = off AS $$
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
-- Looks at the complete runs since the last one before `since`. Runs that changed nothing are kept for some time only, so
-- it looks no farther back than that.
-- As its owner: readers may not see the hashes of keys that it compares.
CREATE OR REPLACE FUNCTION ferry.blind_spots(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, inventory text, "from" timestamptz, "to" timestamptz, lasted interval, late_from timestamptz,
  fresh_again_at timestamptz, error_code text
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' SET jit = off AS $$
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
-- As its owner: readers may not see the hashes of keys that it compares.
CREATE OR REPLACE FUNCTION ferry.freshness_daily(since timestamptz DEFAULT NULL)
RETURNS TABLE (account text, inventory text, day date, minutes integer, fresh_minutes integer, share double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' SET jit = off AS $$
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
