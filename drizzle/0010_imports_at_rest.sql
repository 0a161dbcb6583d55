ALTER TABLE "ferry"."imports" ADD COLUMN "rests_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "rested_ms" bigint DEFAULT 0 NOT NULL;
--> statement-breakpoint
UPDATE ferry.imports SET rests_since = clock_timestamp() WHERE status IN ('paused', 'undecided');
--> statement-breakpoint
-- Keeps for how long an import has waited for a person, paused or undecided: that is not time it took. Whoever changes
-- its status, on whatever way.
CREATE FUNCTION ferry.count_rest() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  NEW.rested_ms := OLD.rested_ms
    + coalesce(round(extract(epoch FROM clock_timestamp() - OLD.rests_since) * 1000), 0)::bigint;
  NEW.rests_since := CASE WHEN NEW.status IN ('paused', 'undecided') THEN clock_timestamp() END;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER imports_count_rest BEFORE UPDATE OF status ON ferry.imports
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION ferry.count_rest();
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.rests_since IS 'Since when it waits for a person, paused or undecided; null if it does not.';
COMMENT ON COLUMN ferry.imports.rested_ms IS 'For how long it has waited for a person before: not counted in the time it took.';
--> statement-breakpoint
COMMENT ON FUNCTION ferry.count_rest IS 'Keeps for how long an import has waited for a person. For Ferry itself.';
