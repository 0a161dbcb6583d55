-- For workers of 0.2.0: claim_next_batch without what they do not say. See acquire_permit.sql.
CREATE OR REPLACE FUNCTION ferry_internal.claim_batch(
  p_import bigint, p_lease text, p_token uuid, p_claim uuid, p_again boolean, p_limit_key text, p_max_calls int[],
  p_window_ms int[], p_arrival_bound_ms int, p_claim_ms int, p_max_bytes int,
  p_row_overhead_bytes int, p_largest_first_after int, p_turn_lapses_ms int, p_note_waiting_every_ms int,
  p_own_call bigint, p_own_request_id text, p_own_age_ms double precision,
  OUT what text, OUT status text, OUT wait_ms double precision, OUT poll_soon boolean, OUT batch_id bigint,
  OUT call_id bigint
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  SELECT b.* INTO what, status, wait_ms, poll_soon, batch_id, call_id FROM ferry_internal.claim_next_batch(
    p_import, p_lease, p_token, p_claim, p_again, p_limit_key, p_max_calls, p_window_ms, p_arrival_bound_ms, p_claim_ms,
    p_max_bytes, p_row_overhead_bytes, p_largest_first_after, p_turn_lapses_ms, p_note_waiting_every_ms,
    p_own_call, p_own_request_id, p_own_age_ms, NULL) b;
END $$;

COMMENT ON FUNCTION ferry_internal.claim_batch IS 'What claim_next_batch was until 0.2.0. For Ferry itself.';
