ALTER TABLE "ferry"."schedule_slots" ADD COLUMN "manual" boolean DEFAULT false NOT NULL;
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_slots.manual IS 'True if a person asked for it: it runs even if its schedule is paused, and its time is when they asked.';
