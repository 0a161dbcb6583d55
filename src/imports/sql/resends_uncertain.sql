-- Whether an import sends uncertain batches again by itself. What is left of a cancelled import is never sent again: then
-- only a person can say what became of it.
CREATE OR REPLACE FUNCTION ferry.resends_uncertain(p_on_uncertain text, p_status text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_on_uncertain = 'resend' AND p_status <> 'cancelled';

COMMENT ON FUNCTION ferry.resends_uncertain IS 'Whether an import with these values of on_uncertain and status sends uncertain batches again by itself.';
