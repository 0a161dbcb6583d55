-- Whether the recipients of a batch are still to be sent, or to be decided about after a call.
CREATE OR REPLACE FUNCTION ferry_internal.is_open_batch(p_state text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_state IN ('ready', 'in flight', 'suspect');

COMMENT ON FUNCTION ferry_internal.is_open_batch IS 'Whether the recipients of a batch in this state are still to be sent.';
