-- What a limit allows for an operation at this moment: until when the next call waits, until when a refusal stops all calls, how
-- many calls count in the longest window, and for how long the first of them has. It reads one snapshot and acquires nothing.
-- As its owner: readers may not see the keys of limits. Who asks knows the key already.
CREATE OR REPLACE FUNCTION ferry.limit_state(
  p_limit_key text, p_operation text, p_max_calls int[], p_window_ms int[],
  OUT wait_ms double precision, OUT closed_ms double precision, OUT counted integer, OUT counted_for_ms double precision
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  WITH calls AS (
    SELECT count(*)::integer AS counted, min(c.started) AS first
    FROM ferry.counted_calls(p_limit_key, p_operation, now() - (SELECT max(ms) FROM unnest(p_window_ms) ms) * interval '1 ms') c
  ), windows AS (
    SELECT max(w.free_at) AS free_at FROM ferry.full_windows(p_limit_key, p_operation, p_max_calls, p_window_ms, now()) w
  ), closed AS (
    SELECT max(l.blocked_until) AS until FROM ferry.platform_limits l
    WHERE l.limit_key = p_limit_key AND l.operation = p_operation
  )
  SELECT greatest(extract(epoch FROM greatest(windows.free_at, closed.until) - now()), 0)::float8 * 1000,
    greatest(extract(epoch FROM closed.until - now()), 0)::float8 * 1000,
    calls.counted, coalesce(extract(epoch FROM now() - calls.first), 0)::float8 * 1000
  FROM calls, windows, closed
$$;

COMMENT ON FUNCTION ferry.limit_state IS 'What a limit allows for an operation at this moment, in milliseconds and calls. For Ferry itself.';
--> statement-breakpoint
-- As its owner, and counts only: readers may not see the rows. By the line, so that p_at_most bounds what is read.
CREATE OR REPLACE FUNCTION ferry.import_reasons(p_import bigint, p_at_most integer)
RETURNS TABLE (kind text, origin text, reason text, rows integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' SET enable_seqscan = off SET jit = off AS $$
  SELECT 'rejected', r.origin, r.reason, count(*)::integer
  FROM (SELECT origin, reason FROM ferry.import_rejects WHERE import_id = p_import ORDER BY line LIMIT p_at_most) r
  GROUP BY r.origin, r.reason
  UNION ALL
  SELECT l.kind, NULL, l.reason, count(*)::integer
  FROM (SELECT kind, reason FROM ferry.import_left_out WHERE import_id = p_import ORDER BY line LIMIT p_at_most) l
  GROUP BY l.kind, l.reason
  ORDER BY 4 DESC, 1, 3
$$;

COMMENT ON FUNCTION ferry.import_reasons IS 'Why rows of an import are not sent and how many, counted in its first p_at_most rejects and as many rows left out. Counts only. For Ferry itself.';
