ALTER TABLE "ferry"."removal_holds" ADD COLUMN "since_runs" bigint[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.since_runs IS 'For each of the ids, in their order, the run since which its removal has been held without a break. Of another length if that is not known.';
