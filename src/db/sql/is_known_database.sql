-- Whether this is the database that Ferry knew (known_database), and none that was restored or that lags behind: the same
-- server, timeline and database; the row is where Ferry wrote it, not a copy of it (a copy has another xmin); and it has the last
-- call that the asking process recorded: p_call and its p_request_id, p_age_ms ago. A change that was noticed since then has
-- been told. What is not known is no difference, and neither is a database that Ferry has not used yet.
CREATE OR REPLACE FUNCTION ferry_internal.is_known_database(
  p_call bigint, p_request_id text, p_age_ms double precision, OUT is_same boolean, OUT has_call boolean
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  SELECT (k.system_identifier = n.system_identifier) IS NOT FALSE AND (k.timeline = n.timeline) IS NOT FALSE
      AND k.database_oid = n.database_oid AND k.written_by = k.xmin::text
    INTO is_same FROM ferry.known_database k, ferry_internal.database_now() n;
  is_same := coalesce(is_same, true);
  has_call := p_call IS NULL
    OR EXISTS (SELECT FROM ferry.platform_calls c WHERE c.id = p_call AND c.request_id = p_request_id)
    OR EXISTS (SELECT FROM ferry.database_changes h
      WHERE h.noticed_at > clock_timestamp() - p_age_ms * interval '1 ms');
END $$;

COMMENT ON FUNCTION ferry_internal.is_known_database IS 'Whether this is the database that Ferry knew, and has the last call of the process that asks. For Ferry itself.';
