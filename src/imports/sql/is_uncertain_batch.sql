-- Whether the outcome of a batch is unknown: it is held for a person, or it is still to be sent after an
-- outcome that was not certain. A batch with an expired claim (is_expired_claim) is uncertain too, as soon as that is
-- recorded.
CREATE OR REPLACE FUNCTION ferry_internal.is_uncertain_batch(p_state text, p_uncertain boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_state = 'uncertain' OR (p_uncertain AND ferry_internal.is_open_batch(p_state));

COMMENT ON FUNCTION ferry_internal.is_uncertain_batch IS 'Whether the outcome of a batch in this state, with this value of uncertain, is unknown: the platform may have taken it.';
