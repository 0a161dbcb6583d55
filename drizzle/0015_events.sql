CREATE TABLE "ferry"."events" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"message_id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"account" text NOT NULL,
	"subject" text NOT NULL,
	"data" jsonb NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"is_open" boolean DEFAULT false NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp with time zone,
	"delivered_at" timestamp with time zone,
	"http_status" integer,
	"failure" text,
	CONSTRAINT "events_kind" CHECK ("ferry"."events"."kind" in ('inventory.late', 'removals.held', 'run.failing', 'night.missed', 'import.paused', 'import.undecided', 'import.completed', 'mcp.tools.changed', 'drift.found')),
	CONSTRAINT "events_state" CHECK ("ferry"."events"."state" in ('raised', 'resolved'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "events_open" ON "ferry"."events" USING btree ("kind","account","subject") WHERE "ferry"."events"."is_open";--> statement-breakpoint
CREATE INDEX "events_undelivered" ON "ferry"."events" USING btree ("at") WHERE "ferry"."events"."delivered_at" is null;