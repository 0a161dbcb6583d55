-- By indexes, and not compiled: a planner that does not know `since` would read the whole table.
CREATE OR REPLACE FUNCTION ferry.call_latency(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, operation text, calls integer, unanswered integer, p50 interval, p95 interval, p99 interval, longest interval
) LANGUAGE sql STABLE SET enable_seqscan = off SET jit = off AS $$
  SELECT c.account, c.operation, count(*)::integer, count(*) FILTER (WHERE c.http_status IS NULL)::integer,
    make_interval(secs => percentile_cont(0.5) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => percentile_cont(0.95) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => percentile_cont(0.99) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => max(e.seconds))
  FROM ferry_internal.limited_calls c
  CROSS JOIN LATERAL (
    SELECT CASE WHEN c.http_status IS NOT NULL THEN extract(epoch FROM c.finished - c.started)::double precision END AS seconds
  ) e
  WHERE c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY c.account, c.operation
  ORDER BY c.account, c.operation
$$;

COMMENT ON FUNCTION ferry.call_latency IS 'How long the platform took to answer: account, operation, calls, unanswered (without an HTTP status), and p50, p95, p99 and longest of the answered ones. Since: one day ago by default.';
