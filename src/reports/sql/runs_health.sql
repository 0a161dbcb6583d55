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
