-- What a limit allows for an operation at this moment: until when the next call waits, until when a refusal stops all calls, how
-- many calls count in the longest window, and for how long the first of them has. It reads one snapshot and acquires nothing.
CREATE OR REPLACE FUNCTION ferry_internal.limit_state(
  p_limit_key text, p_operation text, p_max_calls int[], p_window_ms int[],
  OUT wait_ms double precision, OUT closed_ms double precision, OUT counted integer, OUT counted_for_ms double precision
) LANGUAGE sql STABLE AS $$
  WITH calls AS (
    SELECT count(*)::integer AS counted, min(c.started) AS first
    FROM ferry_internal.counted_calls(p_limit_key, p_operation, now() - (SELECT max(ms) FROM unnest(p_window_ms) ms) * interval '1 ms') c
  ), windows AS (
    SELECT max(w.free_at) AS free_at FROM ferry_internal.full_windows(p_limit_key, p_operation, p_max_calls, p_window_ms, now()) w
  ), closed AS (
    SELECT max(l.blocked_until) AS until FROM ferry.platform_limits l
    WHERE l.limit_key = p_limit_key AND l.operation = p_operation
  )
  SELECT greatest(extract(epoch FROM greatest(windows.free_at, closed.until) - now()), 0)::float8 * 1000,
    greatest(extract(epoch FROM closed.until - now()), 0)::float8 * 1000,
    calls.counted, coalesce(extract(epoch FROM now() - calls.first), 0)::float8 * 1000
  FROM calls, windows, closed
$$;

COMMENT ON FUNCTION ferry_internal.limit_state IS 'What a limit allows for an operation now, in milliseconds and calls. For Ferry itself.';
