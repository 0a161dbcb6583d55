CREATE OR REPLACE FUNCTION ferry.history_start() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT starts_at FROM ferry.history), '-infinity')
$$;

COMMENT ON FUNCTION ferry.history_start IS 'The history is complete from this instant on: versions that ended earlier may have been removed. -infinity if none have been.';
