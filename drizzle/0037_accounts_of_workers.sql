ALTER TABLE "ferry"."workers" ADD COLUMN "accounts" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.accounts IS 'The accounts of its settings. Empty if that is not known.';
