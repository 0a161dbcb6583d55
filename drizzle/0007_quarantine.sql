ALTER TABLE "ferry"."quarantined_rows" ADD COLUMN "fingerprint" uuid;--> statement-breakpoint
ALTER TABLE "ferry"."quarantined_rows" ADD COLUMN "until_run" bigint;--> statement-breakpoint
CREATE INDEX "quarantined_rows_until" ON "ferry"."quarantined_rows" USING btree ("until_run") WHERE "ferry"."quarantined_rows"."fingerprint" is not null;--> statement-breakpoint

COMMENT ON TABLE ferry.quarantined_rows IS 'Rows the platform delivered that could not be applied. A row is stored when it is first met or has changed, and holds until a later run meets it no more; of very many, a run stores the first ones and counts the rest. The last good version of such a row stays current.';--> statement-breakpoint
COMMENT ON COLUMN ferry.quarantined_rows.run_id IS 'The run (sync_runs.id) that met the row first, as it is here.';--> statement-breakpoint
COMMENT ON COLUMN ferry.quarantined_rows.position IS 'Where the row stood in the listing of that run, from 0.';--> statement-breakpoint
COMMENT ON COLUMN ferry.quarantined_rows.fingerprint IS 'A hash of id, reason and row, by which later runs know it. Null: stored by an earlier version of Ferry, for that run alone.';--> statement-breakpoint
COMMENT ON COLUMN ferry.quarantined_rows.until_run IS 'The first later run of the same scope that did not meet the row so; null if it still holds.';
