-- For each other key of an operation: until when calls of these accounts count that other settings recorded under it; null if there
-- are none. A `limitGroup` that was just set or changed, or another process that does not know all accounts, counts apart, but
-- the platform does not.
--
-- Which calls count, and until when, is said in full_windows.sql. Of each key the index gives the few calls of the last minute.
-- The planner puts the body in the place of the call.
CREATE OR REPLACE FUNCTION ferry_internal.counted_elsewhere(
  p_limit_key text, p_operation text, p_accounts text[], p_window_ms int[], p_at timestamptz
) RETURNS TABLE (free_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT c.counts_until + w.longest
  FROM (SELECT max(ms) * interval '1 ms' AS longest FROM unnest(p_window_ms) ms) w
  CROSS JOIN ferry.platform_limits l
  CROSS JOIN LATERAL (
    SELECT max(least(c.finished, c.counted_by)) AS counts_until FROM ferry.platform_calls c
    WHERE c.limit_key = l.limit_key AND c.operation = l.operation AND c.counted_by > p_at - w.longest
      AND c.account = ANY (p_accounts) AND least(c.finished, c.counted_by) > p_at - w.longest) c
  WHERE l.operation = p_operation AND l.limit_key <> p_limit_key
$$;

COMMENT ON FUNCTION ferry_internal.counted_elsewhere IS 'Until when calls count that other settings recorded under other keys. For Ferry itself.';
