-- Keeps how long an import has waited for a person, paused or undecided: this time does not count as time it took. As a
-- trigger it sees every change of status.
CREATE OR REPLACE FUNCTION ferry_internal.count_rest() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  NEW.rested_ms := OLD.rested_ms
    + coalesce(round(extract(epoch FROM clock_timestamp() - OLD.rests_since) * 1000), 0)::bigint;
  NEW.rests_since := CASE WHEN NEW.status IN ('paused', 'undecided') THEN clock_timestamp() END;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER imports_count_rest BEFORE UPDATE OF status ON ferry.imports
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION ferry_internal.count_rest();

COMMENT ON FUNCTION ferry_internal.count_rest IS 'Keeps how long an import has waited for a person. For Ferry itself.';
