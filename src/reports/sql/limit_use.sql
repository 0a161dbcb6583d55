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
