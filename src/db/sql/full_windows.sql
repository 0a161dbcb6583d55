-- One row for each window of a limit that has no room for another call at p_at: when it will have, and whether that depends
-- on calls in flight, which may well end before their counted_by.
--
-- A call counts in a window until the platform must have forgotten it: the platform counts it at some time between the
-- moment Ferry sent it and least(finished, counted_by). The youngest call but one less than the limit decides: once it has
-- left the window, there is room for one more.
--
-- The planner puts the body in the place of the call.
CREATE OR REPLACE FUNCTION ferry_internal.full_windows(
  p_limit_key text, p_operation text, p_max_calls int[], p_window_ms int[], p_at timestamptz
) RETURNS TABLE (free_at timestamptz, is_in_flight boolean) LANGUAGE sql STABLE AS $$
  SELECT c.counts_until + w.ms * interval '1 ms', c.counts_until > p_at
  FROM unnest(p_max_calls, p_window_ms) AS w (max_calls, ms)
  CROSS JOIN LATERAL (
    SELECT c.counts_until FROM ferry_internal.counted_calls(p_limit_key, p_operation, p_at - w.ms * interval '1 ms') c
    ORDER BY c.counts_until DESC OFFSET w.max_calls - 1 LIMIT 1) c
$$;

COMMENT ON FUNCTION ferry_internal.full_windows IS 'The windows of a limit that have no room for another call, and when they will have. For Ferry itself.';
