-- Records one more call in the call log if every window has room for it; otherwise says how long to wait. One row: call_id,
-- or wait_ms. `poll_soon` is true while the wait depends on calls in flight, which may well end before their counted_by:
-- ask again after a short while.
--
-- For whom acquire_call_permit.sql has let through in this transaction: it holds the locks, and the database is known.
-- Which calls count, and until when, is said in full_windows.sql.
--
-- p_closed_until: when something else lets calls go out again; null if nothing holds them back.
CREATE OR REPLACE FUNCTION ferry_internal.record_call(
  p_limit_key text, p_operation text, p_account text, p_run_id bigint,
  p_max_calls int[], p_window_ms int[], p_arrival_bound_ms int, p_closed_until timestamptz DEFAULT NULL,
  OUT call_id bigint, OUT wait_ms double precision, OUT poll_soon boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_now timestamptz := clock_timestamp();
  v_free_at timestamptz;
BEGIN
  SELECT greatest(p_closed_until, max(w.free_at), v_now), coalesce(bool_or(w.is_in_flight), false) INTO v_free_at, poll_soon
    FROM ferry_internal.full_windows(p_limit_key, p_operation, p_max_calls, p_window_ms, v_now) w;

  IF v_free_at > v_now THEN
    wait_ms := extract(epoch FROM v_free_at - v_now) * 1000;
    RETURN;
  END IF;
  INSERT INTO ferry.platform_calls (limit_key, account, operation, started, counted_by, run_id)
    VALUES (p_limit_key, p_account, p_operation, v_now, v_now + p_arrival_bound_ms * interval '1 ms', p_run_id)
    RETURNING id INTO call_id;
END $$;

COMMENT ON FUNCTION ferry_internal.record_call IS 'Records one more call of an acquired limit in the call log, or says how long to wait. For Ferry itself.';
