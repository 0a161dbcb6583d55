-- For workers of 0.2.0: acquire_call_permit without what they do not say. It stays where it is while they run, for they may be
-- waiting in it while the database is migrated, and call it again in the same statement.
CREATE OR REPLACE FUNCTION ferry_internal.acquire_permit(
  p_limit_key text, p_operation text, p_account text, p_run_id bigint,
  p_max_calls int[], p_window_ms int[], p_arrival_bound_ms int,
  p_own_call bigint DEFAULT NULL, p_own_request_id text DEFAULT NULL, p_own_age_ms double precision DEFAULT NULL,
  OUT call_id bigint, OUT wait_ms double precision, OUT poll_soon boolean, OUT is_unknown boolean
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  SELECT p.* INTO call_id, wait_ms, poll_soon, is_unknown FROM ferry_internal.acquire_call_permit(
    p_limit_key, p_operation, p_account, p_run_id, p_max_calls, p_window_ms, p_arrival_bound_ms,
    p_own_call, p_own_request_id, p_own_age_ms) p;
END $$;

COMMENT ON FUNCTION ferry_internal.acquire_permit IS 'What acquire_call_permit was until 0.2.0. For Ferry itself.';
