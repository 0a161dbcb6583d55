-- Records one more call in the call log if every window has room for it; otherwise says how long to wait. One row: call_id,
-- or wait_ms. `poll_soon` is true while the wait depends on calls in flight, which may well end before their counted_by:
-- ask again after a short while.
--
-- The row of platform_limits is locked first. Each statement of a volatile plpgsql function has a snapshot of its own, so
-- the count that follows sees all calls that were recorded before the lock was granted. One statement that locked and
-- counted would count with a snapshot older than the lock, and would let too many calls through.
--
-- A call counts in a window until the platform must have forgotten it: the platform counts it at some time between the
-- moment Ferry sent it and least(finished, counted_by).
--
-- src/db/limit-state.ts computes the same wait without acquiring a permit: change both together.
CREATE OR REPLACE FUNCTION ferry.acquire_permit(
  p_limit_key text, p_operation text, p_account text, p_run_id bigint,
  p_max_calls int[], p_window_ms int[], p_arrival_bound_ms int,
  OUT call_id bigint, OUT wait_ms double precision, OUT poll_soon boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_blocked_until timestamptz;
  v_now timestamptz;
  v_counts_until timestamptz;
  v_free_at timestamptz;
BEGIN
  SELECT l.blocked_until INTO v_blocked_until FROM ferry.platform_limits l
    WHERE l.limit_key = p_limit_key AND l.operation = p_operation FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO ferry.platform_limits (limit_key, operation) VALUES (p_limit_key, p_operation)
      ON CONFLICT DO NOTHING;
    SELECT l.blocked_until INTO v_blocked_until FROM ferry.platform_limits l
      WHERE l.limit_key = p_limit_key AND l.operation = p_operation FOR UPDATE;
  END IF;

  v_now := clock_timestamp();
  v_free_at := greatest(v_blocked_until, v_now);
  poll_soon := false;
  FOR i IN 1 .. array_length(p_max_calls, 1) LOOP
    -- The youngest call but p_max_calls[i] - 1: once it has left the window, there is room for one more.
    SELECT least(c.finished, c.counted_by) INTO v_counts_until FROM ferry.platform_calls c
      WHERE c.limit_key = p_limit_key AND c.operation = p_operation
        AND c.counted_by > v_now - p_window_ms[i] * interval '1 ms'
        AND least(c.finished, c.counted_by) > v_now - p_window_ms[i] * interval '1 ms'
      ORDER BY 1 DESC OFFSET p_max_calls[i] - 1 LIMIT 1;
    IF FOUND THEN
      v_free_at := greatest(v_free_at, v_counts_until + p_window_ms[i] * interval '1 ms');
      poll_soon := poll_soon OR v_counts_until > v_now;
    END IF;
  END LOOP;

  IF v_free_at > v_now THEN
    wait_ms := extract(epoch FROM v_free_at - v_now) * 1000;
    RETURN;
  END IF;
  INSERT INTO ferry.platform_calls (limit_key, account, operation, started, counted_by, run_id)
    VALUES (p_limit_key, p_account, p_operation, v_now, v_now + p_arrival_bound_ms * interval '1 ms', p_run_id)
    RETURNING id INTO call_id;
END $$;

COMMENT ON FUNCTION ferry.acquire_permit IS 'Records one more call in the call log, or says how long to wait. For Ferry itself.';
