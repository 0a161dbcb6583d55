-- Whether the claim of a batch has expired at p_at: its worker has been silent for longer than the call can last.
-- The planner puts the body in the place of the call, so a query that asks this finds the batches by the partial index
-- import_batches_in_flight and need not test the state too.
CREATE OR REPLACE FUNCTION ferry_internal.is_expired_claim(p_state text, p_claim_ends_at timestamptz, p_at timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_state = 'in flight' AND p_claim_ends_at <= p_at;

COMMENT ON FUNCTION ferry_internal.is_expired_claim IS 'Whether a batch in this state, with this end of its claim, has an expired claim at an instant.';
