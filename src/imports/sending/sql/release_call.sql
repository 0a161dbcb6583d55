-- Returns the permit of a batch's call that was not made. The caller has locked the import's row.
CREATE OR REPLACE FUNCTION ferry_internal.release_call(p_import bigint, p_call bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  DELETE FROM ferry.platform_calls c WHERE c.id = p_call;
  IF FOUND THEN
    UPDATE ferry.imports i SET requests = i.requests - 1 WHERE i.id = p_import;
  END IF;
END $$;

COMMENT ON FUNCTION ferry_internal.release_call IS 'Returns the permit of a call that was not made. For Ferry itself.';
