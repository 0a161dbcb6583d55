-- Called with the moment alone, so a query asks once, not for each row.
CREATE OR REPLACE FUNCTION ferry_internal.expect_history(at timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  IF at < ferry.history_start() THEN
    RAISE EXCEPTION 'The history starts at %: versions that ended before were removed.', ferry.history_start()
      USING ERRCODE = 'FE001', HINT = 'Ask for a later moment. FERRY_KEEP_VERSIONS says how long versions are kept.';
  END IF;
  RETURN true;
END $$;

COMMENT ON FUNCTION ferry_internal.expect_history IS 'True if the history is complete at a moment; else raises an error. The _as_of functions call it.';
