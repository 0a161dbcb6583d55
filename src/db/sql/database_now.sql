-- Which database this is: the system identifier and the timeline of its server, and its number there. Null is what this role
-- may not ask, or the server does not tell, as some managed ones; a standby has no timeline to write on.
CREATE OR REPLACE FUNCTION ferry_internal.database_now(
  OUT system_identifier text, OUT timeline text, OUT database_oid bigint
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  SELECT d.oid INTO database_oid FROM pg_catalog.pg_database d WHERE d.datname = current_database();
  BEGIN
    SELECT c.system_identifier INTO system_identifier FROM pg_catalog.pg_control_system() c;
  EXCEPTION WHEN OTHERS THEN
    NULL;
  END;
  BEGIN
    IF NOT pg_catalog.pg_is_in_recovery() THEN
      timeline := substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8);
    END IF;
  EXCEPTION WHEN OTHERS THEN
    NULL;
  END;
END $$;

COMMENT ON FUNCTION ferry_internal.database_now IS 'The system identifier, the timeline and the number of this database, each null if it is not known. For Ferry itself.';
