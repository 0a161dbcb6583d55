CREATE OR REPLACE FUNCTION ferry.history_start() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT starts_at FROM ferry.history), '-infinity')
$$;

COMMENT ON FUNCTION ferry.history_start IS 'From when on the history is complete: versions that ended before may have been removed. -infinity if none was.';
