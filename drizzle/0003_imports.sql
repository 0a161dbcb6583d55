CREATE TABLE "ferry"."import_batches" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."import_batches_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"import_id" bigint NOT NULL,
	"parent_id" bigint,
	"from_line" bigint NOT NULL,
	"to_line" bigint NOT NULL,
	"rows" integer NOT NULL,
	"set_aside" bigint[] DEFAULT '{}' NOT NULL,
	"reasons" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"state" text NOT NULL,
	"resends" integer DEFAULT 0 NOT NULL,
	"uncertain" boolean DEFAULT false NOT NULL,
	"claim" uuid,
	"claimed_at" timestamp with time zone,
	"claim_ends_at" timestamp with time zone,
	"call_id" bigint,
	"sent_at" timestamp with time zone,
	"http_status" integer,
	"error_code" text,
	"request_id" text,
	"message" text,
	CONSTRAINT "import_batches_range" CHECK ("ferry"."import_batches"."to_line" >= "ferry"."import_batches"."from_line")
);
--> statement-breakpoint
CREATE TABLE "ferry"."import_left_out" (
	"import_id" bigint NOT NULL,
	"line" bigint NOT NULL,
	"kind" text NOT NULL,
	"reason" text NOT NULL,
	"recipient_hash" uuid,
	"kept_line" bigint,
	"earlier_import" bigint,
	"recipient" text,
	CONSTRAINT "import_left_out_import_id_line_pk" PRIMARY KEY("import_id","line")
);
--> statement-breakpoint
CREATE TABLE "ferry"."import_recipients" (
	"import_id" bigint NOT NULL,
	"line" bigint NOT NULL,
	"recipient_hash" uuid NOT NULL,
	"all" boolean NOT NULL,
	"component_ids" text[],
	"locale" text NOT NULL,
	"recipient" text,
	"raw" text,
	"maybe_sent" integer,
	CONSTRAINT "import_recipients_import_id_line_pk" PRIMARY KEY("import_id","line")
);
--> statement-breakpoint
CREATE TABLE "ferry"."import_rejects" (
	"import_id" bigint NOT NULL,
	"line" bigint NOT NULL,
	"origin" text NOT NULL,
	"reason" text NOT NULL,
	"column" text,
	"message" text NOT NULL,
	"recipient_hash" uuid,
	"batch_id" bigint,
	"error_code" text,
	"request_id" text,
	"raw" text,
	CONSTRAINT "import_rejects_import_id_line_pk" PRIMARY KEY("import_id","line")
);
--> statement-breakpoint
CREATE TABLE "ferry"."imports" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."imports_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" text NOT NULL,
	"page_id" numeric(20, 0) NOT NULL,
	"method" text NOT NULL,
	"status" text NOT NULL,
	"file" text NOT NULL,
	"columns" text[],
	"options" jsonb NOT NULL,
	"on_uncertain" text NOT NULL,
	"update_existing" boolean NOT NULL,
	"batch_rows" integer NOT NULL,
	"first_rows" integer,
	"created_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"staged_at" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"purged_at" timestamp with time zone,
	"read" integer DEFAULT 0 NOT NULL,
	"recipients" integer DEFAULT 0 NOT NULL,
	"last_line" bigint DEFAULT 0 NOT NULL,
	"batched_to" bigint DEFAULT 0 NOT NULL,
	"most_rows" integer,
	"screened_at" timestamp with time zone,
	"accepted" integer DEFAULT 0 NOT NULL,
	"unaccepted" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp with time zone,
	"most_rejects" integer DEFAULT 10 NOT NULL,
	"wants_at" timestamp with time zone,
	"served_at" timestamp with time zone,
	"pause_code" text,
	"pause_request_id" text,
	"pause_message" text,
	"pause_what_to_do" text
);
--> statement-breakpoint
ALTER TABLE "ferry"."platform_calls" ADD COLUMN "batch_id" bigint;--> statement-breakpoint
CREATE INDEX "import_batches_by_range" ON "ferry"."import_batches" USING btree ("import_id","from_line");--> statement-breakpoint
CREATE INDEX "import_batches_open" ON "ferry"."import_batches" USING btree ("import_id","state") WHERE "ferry"."import_batches"."state" not in ('sent', 'split');--> statement-breakpoint
CREATE INDEX "import_batches_in_flight" ON "ferry"."import_batches" USING btree ("claim_ends_at") WHERE "ferry"."import_batches"."state" = 'in flight';--> statement-breakpoint
CREATE UNIQUE INDEX "import_batches_claim" ON "ferry"."import_batches" USING btree ("claim") WHERE "ferry"."import_batches"."claim" is not null;--> statement-breakpoint
CREATE INDEX "import_rejects_of_platform" ON "ferry"."import_rejects" USING btree ("import_id") WHERE "ferry"."import_rejects"."origin" = 'platform';--> statement-breakpoint
CREATE INDEX "imports_by_page" ON "ferry"."imports" USING btree ("account","page_id","method","id");--> statement-breakpoint
CREATE INDEX "imports_unfinished" ON "ferry"."imports" USING btree ("id") WHERE "ferry"."imports"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "platform_calls_by_batch" ON "ferry"."platform_calls" USING btree ("batch_id") WHERE "ferry"."platform_calls"."batch_id" is not null;