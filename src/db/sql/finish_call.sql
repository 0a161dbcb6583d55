-- Records the end of a call. `finished` is the moment when an answer of the platform came: p_answered_ms_ago, by the clock
-- of the worker, before it is recorded here, so never too early. No answer, or a gateway's in its place, proves nothing: the
-- call then counts until counted_by.
--
-- p_is_over_limit: the platform refused the call because of its limit. That moves blocked_until forward, never back, for
-- every worker: by the back-off of the strike (the last one, from that strike on), or by p_retry_after_ms if that is
-- longer. Answers to calls sent before the block are one strike with it. Any other answer ends the strikes.
CREATE OR REPLACE FUNCTION ferry_internal.finish_call(
  p_call_id bigint, p_answered_ms_ago double precision, p_http_status int, p_error_code text, p_request_id text,
  p_is_over_limit boolean, p_retry_after_ms double precision, p_back_off_ms int[]
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_call ferry.platform_calls;
  v_limit ferry.platform_limits;
  v_strikes int;
BEGIN
  UPDATE ferry.platform_calls SET
      finished = CASE WHEN p_answered_ms_ago IS NOT NULL THEN
        greatest(started, clock_timestamp() - interval '1 ms' * p_answered_ms_ago) END,
      http_status = p_http_status, error_code = p_error_code, request_id = p_request_id
    WHERE id = p_call_id RETURNING * INTO v_call;
  IF p_is_over_limit THEN
    SELECT * INTO v_limit FROM ferry.platform_limits l
      WHERE l.limit_key = v_call.limit_key AND l.operation = v_call.operation FOR UPDATE;
    v_strikes := v_limit.strikes + coalesce(v_call.started > v_limit.blocked_until, true)::int;
    UPDATE ferry.platform_limits l SET
        strikes = v_strikes,
        blocked_by = p_call_id,
        blocked_until = greatest(l.blocked_until, clock_timestamp() + interval '1 ms' * greatest(
          p_retry_after_ms, p_back_off_ms[least(greatest(v_strikes, 1), cardinality(p_back_off_ms))]))
      WHERE l.limit_key = v_call.limit_key AND l.operation = v_call.operation;
  ELSIF p_answered_ms_ago IS NOT NULL THEN
    UPDATE ferry.platform_limits SET strikes = 0
      WHERE limit_key = v_call.limit_key AND operation = v_call.operation AND strikes > 0
        AND v_call.started > blocked_until;
  END IF;
END $$;

COMMENT ON FUNCTION ferry_internal.finish_call IS 'Records the end of a call. For Ferry itself.';
