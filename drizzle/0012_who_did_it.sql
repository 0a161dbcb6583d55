CREATE TABLE "ferry"."audit" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."audit_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"account" text NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"because" text,
	CONSTRAINT "audit_action" CHECK ("ferry"."audit"."action" in ('sync', 'approve', 'reject', 'confirm', 'pause', 'resume', 'cancel', 'resolve', 'purge', 'run')),
	CONSTRAINT "audit_subject_kind" CHECK ("ferry"."audit"."subject_kind" in ('run', 'import', 'schedule')),
	CONSTRAINT "audit_actor" CHECK (char_length("ferry"."audit"."actor") <= 200),
	CONSTRAINT "audit_because" CHECK (char_length("ferry"."audit"."because") <= 1000)
);
--> statement-breakpoint
CREATE INDEX "audit_by_time" ON "ferry"."audit" USING btree ("at");--> statement-breakpoint
CREATE INDEX "audit_by_subject" ON "ferry"."audit" USING btree ("subject_kind","subject_id");