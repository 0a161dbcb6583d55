-- Records one more call in the call log, or says how long to wait, as record_call.sql has it. Until the transaction ends, its
-- caller may record more calls with that function alone.
--
-- The row of platform_limits is locked first. Each statement of a volatile plpgsql function has a snapshot of its own, so
-- the count that follows sees all calls that were recorded before the lock was granted. One statement that locked and
-- counted would count with a snapshot older than the lock, and would let too many calls through.
--
-- p_accounts: those that share the limit. Other settings may count their calls under other keys, as while a `limitGroup` is changed by a
-- rolling restart. So the row that each account has alone is locked too, whatever the key is, and nothing is recorded while calls count
-- elsewhere (counted_elsewhere.sql). All rows are locked in one order. Null: a worker of 0.2.0.
--
-- `is_unknown`: this is not the database that Ferry knew, so its call log may lack calls; none is recorded. Three
-- parameters are those of is_known_database.sql.
CREATE OR REPLACE FUNCTION ferry_internal.acquire_call_permit(
  p_limit_key text, p_operation text, p_account text, p_run_id bigint,
  p_max_calls int[], p_window_ms int[], p_arrival_bound_ms int,
  p_own_call bigint DEFAULT NULL, p_own_request_id text DEFAULT NULL, p_own_age_ms double precision DEFAULT NULL,
  p_accounts text[] DEFAULT NULL,
  OUT call_id bigint, OUT wait_ms double precision, OUT poll_soon boolean, OUT is_unknown boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_free_at timestamptz;
  v_keys text[];
BEGIN
  v_keys := ARRAY(
    SELECT p_limit_key UNION SELECT split_part(p_limit_key, ':', 1) || ':' || a FROM unnest(p_accounts) a);
  IF (SELECT count(*) FROM ferry.platform_limits l WHERE l.limit_key = ANY (v_keys) AND l.operation = p_operation)
    < cardinality(v_keys) THEN
    INSERT INTO ferry.platform_limits (limit_key, operation) SELECT k, p_operation FROM unnest(v_keys) k ORDER BY k
      ON CONFLICT DO NOTHING;
  END IF;
  PERFORM FROM ferry.platform_limits l WHERE l.limit_key = ANY (v_keys) AND l.operation = p_operation
    ORDER BY l.limit_key FOR UPDATE;
  SELECT l.blocked_until INTO v_free_at FROM ferry.platform_limits l
    WHERE l.limit_key = p_limit_key AND l.operation = p_operation;

  SELECT NOT (k.is_same AND k.has_call) INTO is_unknown
    FROM ferry_internal.is_known_database(p_own_call, p_own_request_id, p_own_age_ms) k;
  IF is_unknown THEN
    wait_ms := 0;
    poll_soon := true;
    RETURN;
  END IF;

  IF p_accounts IS NOT NULL THEN
    SELECT greatest(v_free_at, max(e.free_at)) INTO v_free_at
      FROM ferry_internal.counted_elsewhere(p_limit_key, p_operation, p_accounts, p_window_ms, clock_timestamp()) e;
  END IF;
  SELECT c.* INTO call_id, wait_ms, poll_soon FROM ferry_internal.record_call(
    p_limit_key, p_operation, p_account, p_run_id, p_max_calls, p_window_ms, p_arrival_bound_ms, v_free_at) c;
END $$;

COMMENT ON FUNCTION ferry_internal.acquire_call_permit IS 'Lets one more call through and records it in the call log, or says how long to wait. For Ferry itself.';
