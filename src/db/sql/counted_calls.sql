-- The calls that the platform may still count after p_since, and until when each counts; see full_windows.sql.
-- The planner puts the body in the place of the call. The first comparison follows from the second; it is there for the index.
CREATE OR REPLACE FUNCTION ferry_internal.counted_calls(p_limit_key text, p_operation text, p_since timestamptz)
RETURNS TABLE (started timestamptz, counts_until timestamptz) LANGUAGE sql STABLE AS $$
  SELECT c.started, least(c.finished, c.counted_by) FROM ferry.platform_calls c
  WHERE c.limit_key = p_limit_key AND c.operation = p_operation
    AND c.counted_by > p_since AND least(c.finished, c.counted_by) > p_since
$$;

COMMENT ON FUNCTION ferry_internal.counted_calls IS 'The calls that the platform may still count after an instant. For Ferry itself.';
