CREATE SCHEMA IF NOT EXISTS "ferry";
--> statement-breakpoint
CREATE TABLE "ferry"."audit" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."audit_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"account" text NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"subject_kind" text COLLATE "C" NOT NULL,
	"subject_id" text COLLATE "C" NOT NULL,
	"because" text,
	"rows" integer,
	"of_rows" integer,
	CONSTRAINT "audit_action" CHECK ("ferry"."audit"."action" in ('sync', 'approve', 'reject', 'confirm', 'pause', 'resume', 'cancel', 'resolve', 'purge', 'run', 'send')),
	CONSTRAINT "audit_subject_kind" CHECK ("ferry"."audit"."subject_kind" in ('run', 'import', 'schedule', 'event')),
	CONSTRAINT "audit_actor" CHECK (char_length("ferry"."audit"."actor") <= 200),
	CONSTRAINT "audit_because" CHECK (char_length("ferry"."audit"."because") <= 1000)
);
--> statement-breakpoint
CREATE TABLE "ferry"."backfills" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"position" text,
	"batches" integer DEFAULT 1 NOT NULL,
	"began_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"changed_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "ferry"."database_changes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."database_changes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"noticed_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"cause" text NOT NULL,
	"missing_since" timestamp with time zone,
	"known" jsonb NOT NULL,
	"found" jsonb NOT NULL,
	"held_imports" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "database_changes_cause" CHECK ("ferry"."database_changes"."cause" in ('server', 'timeline', 'database', 'copy', 'calls'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."deliveries" (
	"event" bigint NOT NULL,
	"receiver" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"account" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"data" jsonb NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp with time zone,
	"delivered_at" timestamp with time zone,
	"http_status" integer,
	"failure" text,
	CONSTRAINT "deliveries_event_receiver_pk" PRIMARY KEY("event","receiver"),
	CONSTRAINT "deliveries_kind" CHECK ("ferry"."deliveries"."kind" in ('inventory.late', 'removals.held', 'run.failing', 'night.missed', 'import.paused', 'import.undecided', 'import.completed', 'mcp.tools.changed', 'drift.found', 'rule.disabled', 'rule.removed', 'rule.changed', 'rule.added'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."events" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"message_id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"state" text NOT NULL,
	"account" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"data" jsonb NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"is_open" boolean DEFAULT false NOT NULL,
	"routed_at" timestamp with time zone,
	CONSTRAINT "events_kind" CHECK ("ferry"."events"."kind" in ('inventory.late', 'removals.held', 'run.failing', 'night.missed', 'import.paused', 'import.undecided', 'import.completed', 'mcp.tools.changed', 'drift.found', 'rule.disabled', 'rule.removed', 'rule.changed', 'rule.added')),
	CONSTRAINT "events_state" CHECK ("ferry"."events"."state" in ('raised', 'resolved'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."installation" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "installation_has_one_row" CHECK ("ferry"."installation"."only")
);
--> statement-breakpoint
CREATE TABLE "ferry"."known_database" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"system_identifier" text,
	"timeline" text,
	"database_oid" bigint NOT NULL,
	"written_by" text NOT NULL,
	"seen_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "known_database_has_one_row" CHECK ("ferry"."known_database"."only")
);
--> statement-breakpoint
CREATE TABLE "ferry"."leases" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"token" uuid NOT NULL,
	"holder" text NOT NULL,
	"acquired_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ferry"."platform_calls" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."platform_calls_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"limit_key" text COLLATE "C" NOT NULL,
	"account" text NOT NULL,
	"operation" text COLLATE "C" NOT NULL,
	"started" timestamp with time zone NOT NULL,
	"counted_by" timestamp with time zone NOT NULL,
	"finished" timestamp with time zone,
	"http_status" integer,
	"error_code" text,
	"request_id" text COLLATE "C",
	"run_id" bigint,
	"batch_id" bigint
);
--> statement-breakpoint
CREATE TABLE "ferry"."platform_limits" (
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."platform_limits_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"limit_key" text COLLATE "C" NOT NULL,
	"operation" text COLLATE "C" NOT NULL,
	"blocked_until" timestamp with time zone,
	"blocked_by" bigint,
	"strikes" integer DEFAULT 0 NOT NULL,
	"calls_per_minute" integer,
	CONSTRAINT "platform_limits_limit_key_operation_pk" PRIMARY KEY("limit_key","operation"),
	CONSTRAINT "platform_limits_id_unique" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "ferry"."receivers" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"after_event" bigint NOT NULL,
	"known_since" timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ferry"."workers" (
	"holder" text COLLATE "C" PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"version" text,
	"accounts" text[] NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"seen_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ferry"."import_batches" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."import_batches_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"import_id" bigint NOT NULL,
	"parent_id" bigint,
	"from_line" bigint NOT NULL,
	"to_line" bigint NOT NULL,
	"rows" integer NOT NULL,
	"set_aside" bigint[] DEFAULT '{}' NOT NULL,
	"reasons" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"state" text COLLATE "C" NOT NULL,
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
	CONSTRAINT "import_batches_state" CHECK ("ferry"."import_batches"."state" in ('ready', 'in flight', 'sent', 'uncertain', 'suspect', 'rejected', 'left out', 'split')),
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
	CONSTRAINT "import_left_out_import_id_line_pk" PRIMARY KEY("import_id","line"),
	CONSTRAINT "import_left_out_kind" CHECK ("ferry"."import_left_out"."kind" in ('duplicate', 'suppressed', 'already imported'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."import_locales" (
	"import_id" bigint NOT NULL,
	"locale" text COLLATE "C" NOT NULL,
	"sent" integer NOT NULL,
	CONSTRAINT "import_locales_import_id_locale_pk" PRIMARY KEY("import_id","locale")
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
	CONSTRAINT "import_rejects_import_id_line_pk" PRIMARY KEY("import_id","line"),
	CONSTRAINT "import_rejects_origin" CHECK ("ferry"."import_rejects"."origin" in ('file', 'platform'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."imports" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."imports_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" text COLLATE "C" NOT NULL,
	"page_id" numeric(20, 0) NOT NULL,
	"method" text COLLATE "C" NOT NULL,
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
	"rests_since" timestamp with time zone,
	"rested_ms" bigint DEFAULT 0 NOT NULL,
	"purged_at" timestamp with time zone,
	"read" integer DEFAULT 0 NOT NULL,
	"recipients" integer DEFAULT 0 NOT NULL,
	"rejected" integer DEFAULT 0 NOT NULL,
	"rejected_by_platform" integer DEFAULT 0 NOT NULL,
	"duplicate" integer DEFAULT 0 NOT NULL,
	"suppressed" integer DEFAULT 0 NOT NULL,
	"already_imported" integer DEFAULT 0 NOT NULL,
	"sent" integer DEFAULT 0 NOT NULL,
	"uncertain" integer DEFAULT 0 NOT NULL,
	"batches" integer DEFAULT 0 NOT NULL,
	"batched" integer DEFAULT 0 NOT NULL,
	"requests" integer DEFAULT 0 NOT NULL,
	"last_line" bigint DEFAULT 0 NOT NULL,
	"batched_to" bigint DEFAULT 0 NOT NULL,
	"max_rows" integer,
	"excluded_to_call" bigint,
	"excluding_to_call" bigint,
	"accepted" integer DEFAULT 0 NOT NULL,
	"unaccepted" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp with time zone,
	"max_rejects" integer DEFAULT 0 NOT NULL,
	"wants_at" timestamp with time zone,
	"wants_limit" text,
	"served_at" timestamp with time zone,
	"pause_code" text,
	"pause_request_id" text,
	"pause_message" text,
	"pause_what_to_do" text,
	CONSTRAINT "imports_status" CHECK ("ferry"."imports"."status" in ('staging', 'queued', 'running', 'paused', 'undecided', 'completed', 'cancelled')),
	CONSTRAINT "imports_on_uncertain" CHECK ("ferry"."imports"."on_uncertain" in ('resend', 'hold'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."alert_rule_firings" (
	"account" text COLLATE "C" NOT NULL,
	"id" numeric(20, 0) NOT NULL,
	"began" timestamp with time zone NOT NULL,
	"ended" timestamp with time zone,
	"began_run" bigint NOT NULL,
	"ended_run" bigint,
	CONSTRAINT "alert_rule_firings_id_account_began_pk" PRIMARY KEY("id","account","began"),
	CONSTRAINT "alert_rule_firings_interval" CHECK ("ferry"."alert_rule_firings"."ended" > "ferry"."alert_rule_firings"."began")
);
--> statement-breakpoint
CREATE TABLE "ferry"."alert_rule_versions" (
	"account" text COLLATE "C" NOT NULL,
	"id" numeric(20, 0) NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"opened_by_run" bigint NOT NULL,
	"closed_by_run" bigint,
	"fingerprint" uuid NOT NULL,
	"account_id" numeric(20, 0) NOT NULL,
	"folder_id" numeric(20, 0) NOT NULL,
	"name" text NOT NULL,
	"labels" jsonb,
	"ds_type" text NOT NULL,
	"enabled" boolean NOT NULL,
	"debug_log_enabled" boolean NOT NULL,
	"cron_pattern" text NOT NULL,
	"timezone" text,
	"delay_seconds" bigint NOT NULL,
	"creator_id" numeric(20, 0) NOT NULL,
	"creator_name" text NOT NULL,
	"updater_id" numeric(20, 0) NOT NULL,
	"updater_name" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"flags" text[],
	"altered" text[],
	"appeared" text,
	"team" text GENERATED ALWAYS AS (left(coalesce(nullif(labels ->> 'team', ''), jsonb_path_query_first(labels, '$.keyvalue() ? (@.key like_regex "^(team|owner|squad)$" flag "i" && @.value != "").value', '{}', true) #>> '{}'), 100)) STORED,
	"words" text GENERATED ALWAYS AS (case when valid_to is null then lower(name::varchar(200) || chr(10) || coalesce(labels::text, '')::varchar(250)) end) STORED,
	CONSTRAINT "alert_rule_versions_id_account_valid_from_pk" PRIMARY KEY("id","account","valid_from"),
	CONSTRAINT "alert_rule_versions_appeared" CHECK ("ferry"."alert_rule_versions"."appeared" in ('first reading', 'unexplained')),
	CONSTRAINT "alert_rule_versions_interval" CHECK ("ferry"."alert_rule_versions"."valid_to" > "ferry"."alert_rule_versions"."valid_from")
);
--> statement-breakpoint
CREATE TABLE "ferry"."contract_drift" (
	"account" text COLLATE "C" NOT NULL,
	"resource" text COLLATE "C" NOT NULL,
	"field" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"first_run" bigint NOT NULL,
	"first_seen_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "contract_drift_account_resource_field_type_pk" PRIMARY KEY("account","resource","field","type"),
	CONSTRAINT "contract_drift_resource" CHECK ("ferry"."contract_drift"."resource" in ('alert-rules', 'mcp-servers'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."history" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	CONSTRAINT "history_has_one_row" CHECK ("ferry"."history"."only")
);
--> statement-breakpoint
CREATE TABLE "ferry"."mcp_server_versions" (
	"account" text COLLATE "C" NOT NULL,
	"server_id" text COLLATE "C" NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"opened_by_run" bigint NOT NULL,
	"closed_by_run" bigint,
	"fingerprint" uuid NOT NULL,
	"account_id" numeric(20, 0),
	"team_id" numeric(20, 0),
	"can_edit" boolean,
	"server_name" text,
	"description" text,
	"transport" text,
	"url" text,
	"status" text,
	"connect_timeout" bigint,
	"call_timeout" bigint,
	"tool_count" bigint,
	"tools" jsonb,
	"auth_mode" text,
	"created_by" numeric(20, 0),
	"created_at" bigint,
	"updated_at" bigint,
	"flags" text[],
	"altered" text[],
	"appeared" text,
	CONSTRAINT "mcp_server_versions_server_id_account_valid_from_pk" PRIMARY KEY("server_id","account","valid_from"),
	CONSTRAINT "mcp_server_versions_appeared" CHECK ("ferry"."mcp_server_versions"."appeared" in ('first reading', 'unexplained')),
	CONSTRAINT "mcp_server_versions_interval" CHECK ("ferry"."mcp_server_versions"."valid_to" > "ferry"."mcp_server_versions"."valid_from")
);
--> statement-breakpoint
CREATE TABLE "ferry"."platform_accounts" (
	"account" text COLLATE "C" NOT NULL,
	"account_id" numeric(20, 0) NOT NULL,
	"first_run" bigint NOT NULL,
	CONSTRAINT "platform_accounts_account_account_id_pk" PRIMARY KEY("account","account_id")
);
--> statement-breakpoint
CREATE TABLE "ferry"."quarantined_rows" (
	"run_id" bigint NOT NULL,
	"position" integer NOT NULL,
	"id" text,
	"reason" text NOT NULL,
	"raw" jsonb,
	"fingerprint" uuid NOT NULL,
	"until_run" bigint,
	CONSTRAINT "quarantined_rows_run_id_position_pk" PRIMARY KEY("run_id","position")
);
--> statement-breakpoint
CREATE TABLE "ferry"."removal_holds" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."removal_holds_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" text COLLATE "C" NOT NULL,
	"resource" text COLLATE "C" NOT NULL,
	"opened_by_run" bigint NOT NULL,
	"last_run" bigint NOT NULL,
	"ids" text[] NOT NULL,
	"since_runs" bigint[] NOT NULL,
	"partly_approved" boolean DEFAULT false NOT NULL,
	"opened_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"ended_at" timestamp with time zone,
	"outcome" text,
	"rejected_by" text,
	"rejected_ids" text[],
	CONSTRAINT "removal_holds_resource" CHECK ("ferry"."removal_holds"."resource" in ('alert-rules', 'mcp-servers')),
	CONSTRAINT "removal_holds_outcome" CHECK ("ferry"."removal_holds"."outcome" in ('approved', 'voided', 'rejected'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."seen_values" (
	"account" text COLLATE "C" NOT NULL,
	"resource" text COLLATE "C" NOT NULL,
	"field" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"first_run" bigint NOT NULL,
	"is_news" boolean NOT NULL,
	"first_seen_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "seen_values_account_resource_field_value_pk" PRIMARY KEY("account","resource","field","value"),
	CONSTRAINT "seen_values_resource" CHECK ("ferry"."seen_values"."resource" in ('alert-rules', 'mcp-servers'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."snapshots" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."snapshots_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" text COLLATE "C" NOT NULL,
	"slot" timestamp with time zone,
	"taken_at" timestamp with time zone NOT NULL,
	"status" text NOT NULL,
	"alert_rules_run" bigint NOT NULL,
	"mcp_servers_run" bigint NOT NULL,
	CONSTRAINT "snapshots_status" CHECK ("ferry"."snapshots"."status" in ('succeeded', 'partial', 'held'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."sync_runs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."sync_runs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" text COLLATE "C" NOT NULL,
	"resource" text COLLATE "C" NOT NULL,
	"trigger" text NOT NULL,
	"slot" timestamp with time zone,
	"scope" jsonb NOT NULL,
	"guard" text NOT NULL,
	"fingerprint_version" integer NOT NULL,
	"status" text NOT NULL,
	"started_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"applied_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"requests" integer DEFAULT 0 NOT NULL,
	"pages" integer DEFAULT 0 NOT NULL,
	"seen" integer DEFAULT 0 NOT NULL,
	"added" integer DEFAULT 0 NOT NULL,
	"changed" integer DEFAULT 0 NOT NULL,
	"removed" integer DEFAULT 0 NOT NULL,
	"unchanged" integer DEFAULT 0 NOT NULL,
	"quarantined" integer DEFAULT 0 NOT NULL,
	"fired" integer DEFAULT 0 NOT NULL,
	"recovered" integer DEFAULT 0 NOT NULL,
	"first_read" integer DEFAULT 0 NOT NULL,
	"data_hashes" text[],
	"error_code" text,
	"request_id" text,
	"message" text,
	"lease_token" uuid,
	CONSTRAINT "sync_runs_resource" CHECK ("ferry"."sync_runs"."resource" in ('alert-rules', 'mcp-servers')),
	CONSTRAINT "sync_runs_trigger" CHECK ("ferry"."sync_runs"."trigger" in ('schedule', 'manual', 'catch-up')),
	CONSTRAINT "sync_runs_status" CHECK ("ferry"."sync_runs"."status" in ('running', 'succeeded', 'partial', 'held', 'failed', 'skipped'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."freshness_targets" (
	"account" text COLLATE "C" NOT NULL,
	"resource" text COLLATE "C" NOT NULL,
	"target" interval NOT NULL,
	"schedule" text NOT NULL,
	"night" interval DEFAULT '25 hours' NOT NULL,
	"timezone" text NOT NULL,
	"weekdays" integer[],
	"folders" jsonb NOT NULL,
	"key_setting" text,
	"runs_kept" interval DEFAULT '90 days' NOT NULL,
	"target_since" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"written_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "freshness_targets_account_resource_pk" PRIMARY KEY("account","resource"),
	CONSTRAINT "freshness_targets_resource" CHECK ("ferry"."freshness_targets"."resource" in ('alert-rules', 'mcp-servers'))
);
--> statement-breakpoint
CREATE TABLE "ferry"."schedule_pauses" (
	"schedule" text COLLATE "C" NOT NULL,
	"account" text COLLATE "C" NOT NULL,
	"paused_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "schedule_pauses_schedule_account_pk" PRIMARY KEY("schedule","account")
);
--> statement-breakpoint
CREATE TABLE "ferry"."schedule_slots" (
	"account" text COLLATE "C" NOT NULL,
	"schedule" text COLLATE "C" NOT NULL,
	"slot" timestamp with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp with time zone,
	"done_at" timestamp with time zone,
	"outcome" text,
	"manual" boolean DEFAULT false NOT NULL,
	CONSTRAINT "schedule_slots_account_schedule_slot_pk" PRIMARY KEY("account","schedule","slot")
);
--> statement-breakpoint
ALTER TABLE "ferry"."deliveries" ADD CONSTRAINT "deliveries_event_events_id_fk" FOREIGN KEY ("event") REFERENCES "ferry"."events"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_by_time" ON "ferry"."audit" USING btree ("at");--> statement-breakpoint
CREATE INDEX "audit_by_subject" ON "ferry"."audit" USING btree ("subject_kind","subject_id");--> statement-breakpoint
CREATE INDEX "deliveries_waiting" ON "ferry"."deliveries" USING btree ("receiver","at","event") WHERE "ferry"."deliveries"."delivered_at" is null;--> statement-breakpoint
CREATE INDEX "deliveries_waiting_of_subject" ON "ferry"."deliveries" USING btree ("receiver","kind","account","subject","event") WHERE "ferry"."deliveries"."delivered_at" is null;--> statement-breakpoint
CREATE INDEX "deliveries_by_retry" ON "ferry"."deliveries" USING btree ("receiver","retry_at") WHERE "ferry"."deliveries"."delivered_at" is null and "ferry"."deliveries"."retry_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "events_open" ON "ferry"."events" USING btree ("kind","account","subject") WHERE "ferry"."events"."is_open";--> statement-breakpoint
CREATE INDEX "events_of_subject" ON "ferry"."events" USING btree ("kind","account","subject","id");--> statement-breakpoint
CREATE INDEX "events_unrouted" ON "ferry"."events" USING btree ("at","id") WHERE "ferry"."events"."routed_at" is null;--> statement-breakpoint
CREATE INDEX "platform_calls_in_window" ON "ferry"."platform_calls" USING btree ("limit_key","operation","counted_by");--> statement-breakpoint
CREATE INDEX "platform_calls_refused" ON "ferry"."platform_calls" USING btree ("started") WHERE "ferry"."platform_calls"."error_code" is not null;--> statement-breakpoint
CREATE INDEX "platform_calls_by_run" ON "ferry"."platform_calls" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "platform_calls_by_request" ON "ferry"."platform_calls" USING hash ("request_id") WHERE "ferry"."platform_calls"."request_id" is not null;--> statement-breakpoint
CREATE INDEX "platform_calls_by_batch" ON "ferry"."platform_calls" USING btree ("batch_id") WHERE "ferry"."platform_calls"."batch_id" is not null;--> statement-breakpoint
CREATE INDEX "import_batches_by_range" ON "ferry"."import_batches" USING btree ("import_id","from_line");--> statement-breakpoint
CREATE INDEX "import_batches_open" ON "ferry"."import_batches" USING btree ("import_id","state") WHERE "ferry"."import_batches"."state" not in ('sent', 'split');--> statement-breakpoint
CREATE INDEX "import_batches_in_flight" ON "ferry"."import_batches" USING btree ("claim_ends_at") WHERE "ferry"."import_batches"."state" = 'in flight';--> statement-breakpoint
CREATE INDEX "import_batches_ready" ON "ferry"."import_batches" USING btree ("import_id","rows","from_line") WHERE "ferry"."import_batches"."state" = 'ready';--> statement-breakpoint
CREATE INDEX "import_batches_sent" ON "ferry"."import_batches" USING btree ("import_id","sent_at") WHERE "ferry"."import_batches"."state" = 'sent';--> statement-breakpoint
CREATE INDEX "import_batches_failed" ON "ferry"."import_batches" USING btree ("import_id","claimed_at") WHERE "ferry"."import_batches"."error_code" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "import_batches_claim" ON "ferry"."import_batches" USING btree ("claim") WHERE "ferry"."import_batches"."claim" is not null;--> statement-breakpoint
CREATE INDEX "imports_by_page" ON "ferry"."imports" USING btree ("account","page_id","method","id");--> statement-breakpoint
CREATE INDEX "imports_unfinished" ON "ferry"."imports" USING btree ("id") WHERE "ferry"."imports"."finished_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "alert_rule_firings_open" ON "ferry"."alert_rule_firings" USING btree ("id","account") WHERE "ferry"."alert_rule_firings"."ended" is null;--> statement-breakpoint
CREATE INDEX "alert_rule_firings_by_start" ON "ferry"."alert_rule_firings" USING btree ("began");--> statement-breakpoint
CREATE INDEX "alert_rule_firings_by_end" ON "ferry"."alert_rule_firings" USING btree ("ended","began") WHERE "ferry"."alert_rule_firings"."ended" is not null;--> statement-breakpoint
CREATE INDEX "alert_rule_versions_by_start" ON "ferry"."alert_rule_versions" USING btree ("valid_from");--> statement-breakpoint
CREATE INDEX "alert_rule_versions_flagged" ON "ferry"."alert_rule_versions" USING btree ("id","account") WHERE "ferry"."alert_rule_versions"."valid_to" is null and "ferry"."alert_rule_versions"."flags" is not null;--> statement-breakpoint
CREATE INDEX "alert_rule_versions_default_timezone" ON "ferry"."alert_rule_versions" USING btree ("id","account") WHERE "ferry"."alert_rule_versions"."valid_to" is null and coalesce("ferry"."alert_rule_versions"."timezone", '') = '';--> statement-breakpoint
CREATE INDEX "mcp_server_versions_by_start" ON "ferry"."mcp_server_versions" USING btree ("valid_from");--> statement-breakpoint
CREATE INDEX "mcp_server_versions_by_end" ON "ferry"."mcp_server_versions" USING btree ("valid_to") WHERE "ferry"."mcp_server_versions"."valid_to" is not null;--> statement-breakpoint
CREATE INDEX "quarantined_rows_until" ON "ferry"."quarantined_rows" USING btree ("until_run");--> statement-breakpoint
CREATE UNIQUE INDEX "removal_holds_open" ON "ferry"."removal_holds" USING btree ("account","resource") WHERE "ferry"."removal_holds"."ended_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "snapshots_one_per_slot" ON "ferry"."snapshots" USING btree ("account","slot");--> statement-breakpoint
CREATE INDEX "snapshots_by_time" ON "ferry"."snapshots" USING btree ("account","taken_at");--> statement-breakpoint
CREATE INDEX "sync_runs_by_resource" ON "ferry"."sync_runs" USING btree ("account","resource","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "sync_runs_complete" ON "ferry"."sync_runs" USING btree ("account","resource",("scope" -> 'folders'),"id" DESC NULLS FIRST) WHERE "ferry"."sync_runs"."status" in ('succeeded', 'held');--> statement-breakpoint
CREATE INDEX "sync_runs_failed" ON "ferry"."sync_runs" USING btree ("account","resource","id" DESC NULLS FIRST) WHERE "ferry"."sync_runs"."status" in ('failed', 'partial');--> statement-breakpoint
CREATE INDEX "sync_runs_by_start" ON "ferry"."sync_runs" USING btree ("started_at");--> statement-breakpoint
CREATE INDEX "sync_runs_first_readings" ON "ferry"."sync_runs" USING btree ("applied_at") WHERE "ferry"."sync_runs"."first_read" > 0;--> statement-breakpoint
CREATE INDEX "sync_runs_by_applied" ON "ferry"."sync_runs" USING btree ("applied_at") WHERE "ferry"."sync_runs"."applied_at" is not null;--> statement-breakpoint
CREATE INDEX "sync_runs_unfinished" ON "ferry"."sync_runs" USING btree ("id") WHERE "ferry"."sync_runs"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "schedule_slots_unfinished" ON "ferry"."schedule_slots" USING btree ("slot") WHERE "ferry"."schedule_slots"."done_at" is null;
--> statement-breakpoint
-- What is for Ferry alone, so that schema ferry shows tables, views and reports and nothing else.
CREATE SCHEMA IF NOT EXISTS ferry_internal;
--> statement-breakpoint
COMMENT ON SCHEMA ferry_internal IS 'Functions and views that are for Ferry alone.';
--> statement-breakpoint
COMMENT ON SCHEMA ferry IS 'Ferry: the inventory of an incident-management platform, with its history.';
--> statement-breakpoint
COMMENT ON TABLE ferry.migrations IS 'The migrations that have run. Kept by the migrator.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.migrations.id IS 'The migration''s number.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.migrations.hash IS 'Hash of its text.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.migrations.created_at IS 'When it was written, in milliseconds since 1970.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.migrations.works_since IS 'The newest migration (created_at) of the oldest Ferry that works with the schema as it is after this one.';
--> statement-breakpoint
COMMENT ON TABLE ferry.backfills IS 'Changes of many rows that follow a migration. One worker at a time makes them, batch by batch.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.backfills.name IS 'The name of the backfill.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.backfills.position IS 'The rows up to here are changed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.backfills.batches IS 'How many batches were changed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.backfills.began_at IS 'When the first batch was changed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.backfills.changed_at IS 'When the last batch was changed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.backfills.finished_at IS 'When no rows were left; null until then.';
--> statement-breakpoint
COMMENT ON TABLE ferry.installation IS 'One row: this database as an installation of Ferry.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.installation.only IS 'Always true: there is one row.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.installation.id IS 'Part of the queue''s prefix, so that two databases may share one Redis.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.installation.created_at IS 'When the database was set up.';
--> statement-breakpoint
COMMENT ON TABLE ferry.known_database IS 'One row: the database that Ferry knew, to notice another one: after a restore, or a failover to a standby that lagged.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.known_database.only IS 'Always true: there is one row.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.known_database.system_identifier IS 'The system identifier of the server; null if it does not tell.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.known_database.timeline IS 'The timeline of the server, which a promotion and a restore change; null if it does not tell.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.known_database.database_oid IS 'The number of the database on its server.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.known_database.written_by IS 'The transaction that wrote this row, as xmin has it: in a copy of the row they differ.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.known_database.seen_at IS 'When a worker last saw that it is this database.';
--> statement-breakpoint
COMMENT ON TABLE ferry.database_changes IS 'Each time when a worker noticed that the database was not the one that Ferry knew. Kept for ever.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.database_changes.id IS 'The number of the change. A later one has a higher number.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.database_changes.noticed_at IS 'When it was noticed. Imports that were sent were held then.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.database_changes.cause IS 'server: another server; timeline: its server was promoted or restored; database: another database of the server; copy: restored from a dump; calls: a call that a worker recorded is missing.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.database_changes.missing_since IS 'Rows that were written since may be missing; null if nothing is known of it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.database_changes.known IS 'The system identifier, timeline and number of the database that Ferry knew.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.database_changes.found IS 'Those of the database that it found.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.database_changes.held_imports IS 'How many imports were held for a person.';
--> statement-breakpoint
COMMENT ON TABLE ferry.platform_limits IS 'One row for each limit. A worker locks it while it looks at the call log.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_limits.id IS 'The number of the limit, for reports: whoever only reads may not see its key.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_limits.limit_key IS 'What the platform counts by: an account, a limitGroup, or the hash of an app key.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_limits.operation IS 'The operation that is limited.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_limits.blocked_until IS 'After a 429, no worker calls before this moment; null if there was never one.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_limits.blocked_by IS 'The last call that the platform refused because of the limit (platform_calls.id); null if there was none.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_limits.strikes IS '429s in a row.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_limits.calls_per_minute IS 'How many calls the settings of the last worker allow in a minute; null if no worker has run.';
--> statement-breakpoint
COMMENT ON TABLE ferry.platform_calls IS 'The call log: one row for every request to the platform. It is the audit trail, and the sliding window that keeps Ferry under the platform''s limits. Kept for FERRY_KEEP_CALLS; calls of imports for ever.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.id IS 'The call''s number.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.limit_key IS 'What the platform counts the call by: an account, a limitGroup, or the hash of an app key.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.operation IS 'list-alert-rules, list-mcp-servers or import-subscribers.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.started IS 'When the call got its permit.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.counted_by IS 'The latest moment at which the platform can have counted it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.finished IS 'When the platform''s answer came; null while it is awaited, or if none came. A gateway''s answer is not the platform''s.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.http_status IS 'The answer''s HTTP status; null without an answer.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.error_code IS 'The platform''s error code, or why there was no answer; null if there was no error.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.request_id IS 'The platform''s id of the call, which its support asks for.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.run_id IS 'The run on whose behalf it was made; null for a call of `ferry doctor`.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_calls.batch_id IS 'The batch of an import (import_batches.id) that the call sent; null for any other call.';
--> statement-breakpoint
COMMENT ON TABLE ferry.leases IS 'Which worker does which work. A lease that is not renewed expires, and any worker may take over the work.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.leases.name IS 'The work, for example sync:default:alert-rules.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.leases.token IS 'The fencing token: checked in every transaction that applies the work.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.leases.holder IS 'The host and process that does the work.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.leases.acquired_at IS 'When it was taken.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.leases.expires_at IS 'When it expires unless it is renewed.';
--> statement-breakpoint
COMMENT ON TABLE ferry.workers IS 'Which workers there are. Each writes its row every 30 s and removes it when it ends. A row that was not written for 90 s is of a worker that died, or does not reach this database; it is removed after a day.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.holder IS 'The name of the worker, as leases have it (leases.holder).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.host IS 'The machine or container it runs on.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.pid IS 'The number of its process there.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.version IS 'Its version of Ferry.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.accounts IS 'The accounts of its settings.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.started_at IS 'Since when it works.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.seen_at IS 'When it last wrote this row, by the clock of this database.';
--> statement-breakpoint
COMMENT ON TABLE ferry.audit IS 'What people did by hand: one row for each decision and each run they asked for, written in the transaction that did it. Kept for ever.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.id IS 'The number of the act. A later act has a higher one.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.at IS 'When it was done.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.account IS 'The account it concerns; * for all accounts.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.actor IS 'Who did it: the name given with the command, else user@host.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.action IS 'What was done, in the words of the commands: sync, approve, reject, confirm, pause, resume, cancel, resolve, purge or run.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.subject_kind IS 'What it was done to: a run, an import or a schedule.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.subject_id IS 'Which one: sync_runs.id, imports.id or the name of the schedule.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.because IS 'Why, in the words of who did it; null if no reason was given.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.rows IS 'How many held rows an approval or a rejection was about; null for other actions.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.of_rows IS 'How many rows were held at that moment.';
--> statement-breakpoint
COMMENT ON TABLE ferry.events IS 'What people are told of: one row for each thing that began, ended or happened. A row is written in the transaction that makes it true.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.id IS 'Its number.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.message_id IS 'Part of the id of its messages. It is the same each time the message is sent, so that a receiver can leave out repetitions.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.kind IS 'What happened, such as removals.held.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.state IS 'raised: it began or happened; resolved: it is over.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.account IS 'The account of Ferry''s configuration it is about.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.subject IS 'What it is about within the account: an inventory or the id of an import; empty for the account itself.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.data IS 'What else is known of it. It holds no recipient and no key.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.at IS 'When it was written.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.is_open IS 'True from when it is raised until it is resolved. At most one event of a kind is open for an account and subject.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.routed_at IS 'When it was decided which receivers get a message about it. Null after a day: no receiver was set.';
--> statement-breakpoint
COMMENT ON TABLE ferry.receivers IS 'The receivers of events that a worker has ever had in its settings. A receiver gets what happens after it is known, and nothing older.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.receivers.name IS 'Its name in the settings; webhook is that of FERRY_WEBHOOK_URL.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.receivers.after_event IS 'The newest event (events.id) when it became known.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.receivers.known_since IS 'When it became known.';
--> statement-breakpoint
COMMENT ON TABLE ferry.deliveries IS 'The messages to receivers: one row for each event that a receiver is told of.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.event IS 'The event (events.id). The messages to one receiver are sent in this order.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.receiver IS 'The name of the receiver in the settings.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.kind IS 'As in events, and so are account and subject.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.account IS 'The account of Ferry''s configuration it is about.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.subject IS 'What it is about within the account.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.data IS 'What the message tells this receiver: of many changes only those that its filter chose. It holds no recipient and no key, and names only for a receiver that asks for them.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.at IS 'When the event was written; for a digest, when that is sent. A day later it is not sent any more.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.attempts IS 'How often it was sent.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.retry_at IS 'When it is sent again, after it was not accepted.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.delivered_at IS 'When the receiver accepted it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.http_status IS 'What the receiver answered last; null without an answer.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.deliveries.failure IS 'Why it was not accepted the last time.';
--> statement-breakpoint
COMMENT ON TABLE ferry.imports IS 'One row for every file that was staged for import. Its rows are in import_recipients, import_rejects and import_left_out, each in exactly one of them.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.id IS 'The import''s number, as `ferry imports show` takes it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.page_id IS 'The status page (uint64) people are imported to.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.method IS 'The subscription channel, for example email. An open set of values.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.status IS 'staging: read, and not confirmed yet; queued; running; paused: see pause_code; undecided: everything is sent, but for some rows the outcome is unknown; completed; cancelled.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.file IS 'The name of the file that was read.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.columns IS 'The header of the file, as it stood there; null for NDJSON.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.options IS 'How the file was to be read: column mapping, defaults, preset.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.on_uncertain IS 'What happens to a batch whose outcome is unknown: resend or hold.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.update_existing IS 'Whether people whom an earlier import has sent are sent again if their settings differ.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.batch_rows IS 'The maximum number of rows in one call, as it was asked for.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.first_rows IS 'The import pauses after this many rows have been sent; null if it was not asked to, or has done so.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.created_at IS 'When its staging began.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.staged_at IS 'When the whole file had been read and checked; null before that.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.confirmed_at IS 'When a person confirmed it; null before that. An unconfirmed import is removed after 24 hours.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.started_at IS 'When the people already imported had been left out and sending began; null before that.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.finished_at IS 'When it was completed or cancelled; null before that.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.rests_since IS 'When it began to wait for a person, paused or undecided; null if it does not wait.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.rested_ms IS 'How long it has waited for a person before. This time does not count as time the import took.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.purged_at IS 'When its recipients'' addresses were removed, and only hashes of them kept; null before that.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.read IS 'Rows read from the file: sent + rejected + duplicate + suppressed + already imported + uncertain + pending.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.recipients IS 'Rows of import_recipients: sent, uncertain or pending.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.rejected IS 'Rows of import_rejects.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.rejected_by_platform IS 'Rows of import_rejects that the platform rejected.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.duplicate IS 'Rows of import_left_out of that kind.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.suppressed IS 'Rows of import_left_out of that kind.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.already_imported IS 'Rows of import_left_out of that kind.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.sent IS 'Recipients in batches that the platform accepted.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.uncertain IS 'Recipients in batches whose outcome is unknown. A batch whose worker was lost counts here once that was noticed, seconds after claim_ends_at.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.batches IS 'Batches made so far, without those that were split.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.batched IS 'Recipients in these batches; the others come after batched_to.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.requests IS 'Calls made for its batches.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.last_line IS 'The number of the last row''s first line in the file.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.batched_to IS 'Batches have been made up to this line; recipients after it are pending.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.max_rows IS 'The maximum number of rows that the platform seems to accept in one call, learned from a 413; null if there was none.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.excluded_to_call IS 'Up to this call (platform_calls.id), rows that other imports of the page had sent have been left out; null before that.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.excluding_to_call IS 'Up to which call Ferry is leaving out rows that other imports of the page had sent; null unless it is doing so.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.accepted IS 'Calls the platform accepted.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.unaccepted IS 'Calls in a row that the platform refused because of their content.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.failures IS 'Calls in a row that failed for other reasons.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.retry_at IS 'After a failure, no call before this moment; null if there is nothing to wait for.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.max_rejects IS 'The import pauses when the platform has rejected more rows than this, and more than one in a hundred.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.wants_at IS 'When it last had to wait for a permit: imports that share a limit take turns. Null if it never had to wait.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.wants_limit IS 'The limit it waited for (platform_limits.limit_key); null if it never had to wait.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.served_at IS 'When it last got a permit; null if it never got one.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.pause_code IS 'Why it is paused: an error code of the platform, or one of Ferry''s own; null unless it is paused.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.pause_request_id IS 'The platform''s id of the call that caused the pause, for its support; null if none did.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.pause_message IS 'What happened, in words; null unless it is paused.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.pause_what_to_do IS 'What to do about it, in words; null unless it is paused.';
--> statement-breakpoint
COMMENT ON TABLE ferry.import_recipients IS 'The people to be imported, one row each. A row is not rewritten while it is sent: the batch whose range of lines contains it says what became of it. Holds personal data until the import is purged.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_recipients.import_id IS 'The import (imports.id).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_recipients.line IS 'The number of the row''s first line in the file; 1 is the first line of the file.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_recipients.recipient_hash IS 'A hash of method and recipient, the same in all imports of this installation; kept when the recipient is purged.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_recipients.all IS 'Whether the subscription covers all components of the page.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_recipients.component_ids IS 'The components it covers; null if it covers all.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_recipients.locale IS 'The language tag, for example en-US.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_recipients.recipient IS 'The address, as it is sent; null once purged.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_recipients.raw IS 'The row as it stood in the file; null once purged.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_recipients.maybe_sent IS 'How often other imports may have sent the recipient to the page before, with an unknown outcome: its batch counts as sent again. Null if none did.';
--> statement-breakpoint
COMMENT ON TABLE ferry.import_rejects IS 'Rows that were not imported because something is wrong with them, found by Ferry''s checks or by the platform. `ferry imports rejects` writes them to a file. Holds personal data until the import is purged.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_rejects.import_id IS 'The import (imports.id).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_rejects.line IS 'The number of the row''s first line in the file.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_rejects.origin IS 'Who rejected it: file (Ferry, while it read the file) or platform.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_rejects.reason IS 'What is wrong. The same mistake has the same words in every row.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_rejects.column IS 'The column of the file that is wrong; null if it is not a single one.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_rejects.message IS 'What is wrong and what would be right, without the recipient.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_rejects.recipient_hash IS 'A hash of method and recipient; null if the recipient could not be read.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_rejects.batch_id IS 'The batch the platform rejected it in; null if Ferry did.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_rejects.error_code IS 'The platform''s error code; null if Ferry rejected it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_rejects.request_id IS 'The platform''s id of the call, which its support asks for; null if Ferry rejected it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_rejects.raw IS 'The row as it stood in the file; null once purged.';
--> statement-breakpoint
COMMENT ON TABLE ferry.import_left_out IS 'Rows that were left out on purpose. Nothing is wrong with them. Holds personal data until the import is purged.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_left_out.import_id IS 'The import (imports.id).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_left_out.line IS 'The number of the row''s first line in the file.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_left_out.kind IS 'duplicate: merged into an earlier row of the same recipient; suppressed: not to be subscribed; already imported: sent by an earlier import.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_left_out.reason IS 'Why, in words: for example suppression list, unconfirmed or unsubscribed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_left_out.recipient_hash IS 'A hash of method and recipient, the same in all imports of this installation; null if there was no recipient.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_left_out.kept_line IS 'Of a duplicate: the line of the row it was merged into.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_left_out.earlier_import IS 'Of one already imported: the import that sent it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_left_out.recipient IS 'The address; null once purged.';
--> statement-breakpoint
COMMENT ON TABLE ferry.import_batches IS 'Rows that are sent in one call: the recipients of an import from one line to another. The batches that are not split say what became of every recipient in their range.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.id IS 'The batch''s number, as `ferry imports resolve --batch` takes it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.import_id IS 'The import (imports.id).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.parent_id IS 'The batch whose place it took, with another, when that was split; null if it was made from the file.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.from_line IS 'The first line of its range.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.to_line IS 'The last line of its range.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.rows IS 'How many recipients are in its range.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.set_aside IS 'Lines that the platform named as wrong: the batch is sent without them, and they are rejected once the rest is accepted.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.reasons IS 'What the platform answered about lines set aside or suspect, without recipients: code, message and request_id by line, and the newest call at that moment.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.state IS 'ready: to be sent; in flight; sent: the platform accepted it; suspect: one row that the platform refused alone, sent alone once more before it is rejected; uncertain: the outcome is unknown, and a person decides; rejected: all its rows are among the rejects; left out: other imports had sent all its rows before; split: smaller batches took its place.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.resends IS 'How often it was sent again after an outcome that stayed uncertain, its own or that of another import with the same recipients: they may have been delivered that much more often.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.uncertain IS 'Whether it was sent with an outcome that is unknown, and no certain outcome has followed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.claim IS 'The fencing token of the worker that sends it; null unless it is in flight.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.claimed_at IS 'When a worker last claimed it to send it; null if none ever did.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.claim_ends_at IS 'When a batch in flight without an outcome becomes uncertain, whatever happened to its worker.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.call_id IS 'The last call that sent it (platform_calls.id); null if it was never sent.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.sent_at IS 'When the platform had accepted it; null before that.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.http_status IS 'The HTTP status of the last answer; null without one.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.error_code IS 'The platform''s error code in the last answer, or why there was no answer; null if there was no error.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.request_id IS 'The platform''s id of the last call, which its support asks for.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.message IS 'What the platform answered to the last call, or what went wrong, without recipients; null if nothing went wrong.';
--> statement-breakpoint
COMMENT ON TABLE ferry.import_locales IS 'How many rows of each locale an import has sent. A trigger on import_batches keeps it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_locales.import_id IS 'The import (imports.id).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_locales.locale IS 'The locale.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_locales.sent IS 'How many rows.';
--> statement-breakpoint
-- One current version of a rule. A comparison, a report about all rules, and a search of their list read this index alone,
-- however long the history is. In the order of the ids, in which rows are added: an index of the words took eight times as long.
CREATE UNIQUE INDEX IF NOT EXISTS alert_rule_versions_current ON ferry.alert_rule_versions (id, account)
  INCLUDE (fingerprint, folder_id, enabled, debug_log_enabled, team, valid_from, words) WHERE valid_to IS NULL;
--> statement-breakpoint
-- What ended lately; by its start too, so that of what ended since a night only what was there then is fetched. What began
-- lately lies together in the table, what ended does not: hence id and account.
CREATE INDEX IF NOT EXISTS alert_rule_versions_by_end ON ferry.alert_rule_versions (valid_to, valid_from)
  INCLUDE (id, account) WHERE valid_to IS NOT NULL;
--> statement-breakpoint
-- For how long a rule was disabled.
CREATE INDEX IF NOT EXISTS alert_rule_versions_disabled ON ferry.alert_rule_versions (id, account, valid_from)
  INCLUDE (valid_to) WHERE NOT enabled;
--> statement-breakpoint
-- The index of current rules answers alone only where vacuum has been.
ALTER TABLE ferry.alert_rule_versions
  SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
--> statement-breakpoint
-- One current version of a server.
CREATE UNIQUE INDEX IF NOT EXISTS mcp_server_versions_current ON ferry.mcp_server_versions (server_id, account)
  INCLUDE (fingerprint) WHERE valid_to IS NULL;
--> statement-breakpoint
COMMENT ON TABLE ferry.sync_runs IS 'The ledger: one row for every attempt to read an inventory, whatever its outcome. A run that changed nothing is kept for FERRY_KEEP_RUNS.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.id IS 'The run''s number, as `ferry runs show` takes it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.resource IS 'alert-rules or mcp-servers.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.trigger IS 'What started it: schedule, manual or catch-up.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.slot IS 'The scheduled time it was due at; null for a manual run.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.scope IS 'What was asked for (folders, include_account, a hash of the key): the same rows can be expected only of the same scope.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.guard IS 'The removal guard that applied to the run.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.fingerprint_version IS 'The way fingerprints were computed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.status IS 'running; succeeded: everything listed is in Postgres; partial: added and changed, removed nothing; held: removals wait for a person; failed: nothing was applied; skipped: another run was already reading the inventory.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.started_at IS 'When the run began.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.applied_at IS 'When its changes became visible, and the valid_from of the versions it opened; null if it applied nothing.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.finished_at IS 'When the run ended; null while it runs, or if its worker was lost and nobody has noticed yet.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.requests IS 'Requests made to the platform, repeated ones included.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.pages IS 'Answers read: pages, or folders.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.seen IS 'Rows the platform delivered: added + changed + unchanged + quarantined.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.added IS 'Rows not known before, or back again.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.changed IS 'Rows that got a new version.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.removed IS 'Rows gone from the platform and closed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.unchanged IS 'Rows whose current version still holds.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.quarantined IS 'Rows that could not be applied: see quarantined_rows.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.fired IS 'Rules seen to begin firing.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.recovered IS 'Rules seen to have stopped firing.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.first_read IS 'Of the added rows, how many a first reading found: their folder had never been listed completely before.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.data_hashes IS 'Hashes of the answers'' data: identical answers need not be compared row by row.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.error_code IS 'The platform''s error code, or one of Ferry''s own; null if all went well.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.request_id IS 'The platform''s id of the call that failed, for its support.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.message IS 'What happened and what to do; null if there is nothing to report.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.lease_token IS 'The fencing token the run worked under.';
--> statement-breakpoint
COMMENT ON TABLE ferry.alert_rule_versions IS 'Every version of every alert rule ever observed. A row holds from valid_from until valid_to; the current one has no valid_to. Intervals of one rule never overlap. Columns bear the platform''s own field names.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.valid_from IS 'When this version was first observed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.valid_to IS 'When it was first observed to be changed or gone; null while it is current.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.opened_by_run IS 'The run (sync_runs.id) that observed this version first.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.closed_by_run IS 'The run that observed its end; null while it is current.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.fingerprint IS 'Hash of the definition, triggered left out. Same content, same fingerprint, whatever the order of keys.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.flags IS 'Fields that break the platform''s own rules (timezone, cron_pattern); null if none does.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.altered IS 'Fields whose text held a character that Postgres cannot store (U+0000, lone surrogates), which Ferry replaced by a visible one; null if there was none.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.appeared IS 'How the rule appeared, if nobody is known to have added it when the version began. first reading: its folder was listed completely for the first time (by this key). unexplained: created_at does not say that the rule was created since the listing before; it became visible, moved here or came back. Null: it was added or changed then.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.words IS 'What the list of rules is searched by: the name and the labels in lower case, cut; null if the version has ended.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.team IS 'The team that owns the rule, by its labels: the first of team, owner and squad that is not empty, in any case; 100 characters at most. Null if there is none. Ferry computes it.';
--> statement-breakpoint
COMMENT ON TABLE ferry.mcp_server_versions IS 'Every version of every MCP server ever observed. A row holds from valid_from until valid_to; the current one has no valid_to. Intervals of one server never overlap. Columns bear the platform''s own field names.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.valid_from IS 'When this version was first observed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.valid_to IS 'When it was first observed to be changed or gone; null while it is current.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.opened_by_run IS 'The run (sync_runs.id) that observed this version first.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.closed_by_run IS 'The run that observed its end; null while it is current.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.fingerprint IS 'Hash of the definition. Same content, same fingerprint, whatever the order of keys.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.flags IS 'Fields that break the platform''s own rules; null if none does.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.altered IS 'Fields whose text held a character that Postgres cannot store (U+0000, lone surrogates), which Ferry replaced by a visible one; null if there was none.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.appeared IS 'How the server appeared, if nobody is known to have added it when the version began: first reading, unexplained, or null, as in alert_rule_versions.appeared.';
--> statement-breakpoint
COMMENT ON TABLE ferry.alert_rule_firings IS 'Episodes in which a rule had an active alert, as observed by the runs. An alert that began and ended between two runs is not recorded.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_firings.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_firings.id IS 'The rule''s id on the platform (uint64).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_firings.began IS 'When the alert was first observed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_firings.ended IS 'When it was first observed to be over, or the rule to be gone; null while it fires.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_firings.began_run IS 'The run (sync_runs.id) that observed the beginning.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_firings.ended_run IS 'The run that observed the end; null while it fires.';
--> statement-breakpoint
COMMENT ON TABLE ferry.removal_holds IS 'Removals that wait for a person, because they are suspiciously many: see `ferry runs approve`. At most one open hold for each account and resource.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.id IS 'The hold''s number.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.resource IS 'alert-rules or mcp-servers.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.opened_by_run IS 'The run that held the removals.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.last_run IS 'The latest run that found them missing.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.ids IS 'The ids that would have been removed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.since_runs IS 'For each of the ids, in their order, the run since which its removal has been held without a break.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.partly_approved IS 'Whether it is what was left of a hold when a person decided about other rows of it: it waits for a person, however few rows it has.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.opened_at IS 'When the hold was opened.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.ended_at IS 'When it ended; null while it waits.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.outcome IS 'How it ended: approved (they were removed), voided (a later complete listing decided) or rejected (a person said that they are not gone).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.rejected_by IS 'Who rejected it: user and host.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.rejected_ids IS 'Of a rejected hold, the ids that are kept although they are still absent. Each complete listing takes out those it has again.';
--> statement-breakpoint
COMMENT ON TABLE ferry.quarantined_rows IS 'Rows that the platform delivered and that could not be applied. A row is stored when it is first met or has changed, and holds until a later run does not meet it any more. If there are very many, a run stores the first ones and counts the rest. The last good version of such a row stays current.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.quarantined_rows.run_id IS 'The run (sync_runs.id) that met the row first, as it is here.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.quarantined_rows.position IS 'Where the row stood in the listing of that run, from 0.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.quarantined_rows.id IS 'The row''s id as text; null if it cannot be read.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.quarantined_rows.reason IS 'Why the row was set aside.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.quarantined_rows.raw IS 'The row as delivered, declared fields only; null if it is no object, is longer than 1 MiB, or repeats a row of another folder.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.quarantined_rows.fingerprint IS 'A hash of id, reason and row, by which later runs recognise it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.quarantined_rows.until_run IS 'The first later run of the same scope that did not meet the row in this form; null if it still holds.';
--> statement-breakpoint
COMMENT ON TABLE ferry.contract_drift IS 'Fields that the platform sends and its documentation does not name. Only names and types are stored, never values: they may hold secrets.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.contract_drift.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.contract_drift.resource IS 'alert-rules or mcp-servers.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.contract_drift.field IS 'The field''s name.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.contract_drift.type IS 'Its JSON type.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.contract_drift.first_run IS 'The run that first saw it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.contract_drift.first_seen_at IS 'When it was first seen.';
--> statement-breakpoint
COMMENT ON TABLE ferry.seen_values IS 'The values that were ever seen in fields of which the contract names some values only (transport, status and auth_mode of MCP servers, ds_type of rules): the first 100 of each account and field.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.seen_values.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.seen_values.resource IS 'alert-rules or mcp-servers.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.seen_values.field IS 'The field''s name.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.seen_values.value IS 'The value, of a long one its first 200 characters.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.seen_values.first_run IS 'The run that first saw it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.seen_values.is_news IS 'Whether it was reported: false for what a first reading found.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.seen_values.first_seen_at IS 'When it was first seen.';
--> statement-breakpoint
COMMENT ON TABLE ferry.platform_accounts IS 'Which of the platform''s accounts each configured account was seen to read. Two names with one account_id share its limits: give them one limitGroup.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_accounts.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_accounts.account_id IS 'The platform''s id of the account (uint64).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_accounts.first_run IS 'The run that saw it first.';
--> statement-breakpoint
COMMENT ON TABLE ferry.snapshots IS 'Named moments, for example nights. A snapshot is a moment in the history of versions, not a copy: read it with alert_rules_as_of(taken_at) and mcp_servers_as_of(taken_at).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.snapshots.id IS 'The snapshot''s number, as `ferry snapshots diff` takes it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.snapshots.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.snapshots.slot IS 'The scheduled time it was due at; null if taken by hand.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.snapshots.taken_at IS 'The moment it stands for.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.snapshots.status IS 'succeeded, or the status of the worse of its two runs: partial or held.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.snapshots.alert_rules_run IS 'The run (sync_runs.id) that read the alert rules.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.snapshots.mcp_servers_run IS 'The run that read the MCP servers.';
--> statement-breakpoint
COMMENT ON TABLE ferry.history IS 'From when on the history is complete. No row for as long as no version or firing was removed for its age.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.history.only IS 'Always true: there is at most one row.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.history.starts_at IS 'Versions and firings that ended before may have been removed.';
--> statement-breakpoint
COMMENT ON TABLE ferry.freshness_targets IS 'How old the data of each inventory may be. Workers write it when they start, from their settings. Delete the rows of an account that you have removed from the settings for good.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.account IS 'The account, by its name in the settings.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.resource IS 'alert-rules or mcp-servers.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.target IS 'How old the data may be: three poll intervals; for MCP servers that are not polled, the interval of the nightly schedule and one hour.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.schedule IS 'The schedule that keeps the data within the target.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.night IS 'After this time without a snapshot a night is missed: the interval of the nightly schedule and one hour.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.timezone IS 'The time zone in which nights are counted (FERRY_TIMEZONE).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.weekdays IS 'The days of the week of the nightly schedule, from 1 (Monday) to 7 (Sunday). Null if it is not due by days of the week alone.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.folders IS 'The folders that a listing must include to count; 0 stands for all. JSON null for MCP servers.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.key_setting IS 'Where the key of the account is set, by the worker that wrote this: a setting, an environment variable or a file. Never the key.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.runs_kept IS 'For how long runs that changed nothing are kept: reports about the past look no farther back.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.target_since IS 'Since when a worker with these settings reads these folders of the account. An inventory that was never read is late once the target has passed since then.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.written_at IS 'When a worker last wrote this.';
--> statement-breakpoint
COMMENT ON TABLE ferry.schedule_slots IS 'Scheduled work: one row per account, schedule and time, however many workers there are. Kept for 30 days.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_slots.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_slots.schedule IS 'The schedule''s name, as `ferry schedules list` shows it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_slots.slot IS 'The time the work was due at, or a person asked for it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_slots.attempts IS 'How often it was begun. A time that a worker gave it back does not count.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_slots.retry_at IS 'When a worker may take it, unless another one has its lease; null once it is settled.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_slots.done_at IS 'When it was settled; null while it is due.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_slots.outcome IS 'The status of its run, or superseded if a later slot took its place; null while it is due.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_slots.manual IS 'True if a person asked for it: it runs even if its schedule is paused, and its time is when they asked.';
--> statement-breakpoint
COMMENT ON TABLE ferry.schedule_pauses IS 'Schedules that are paused; no row means not paused.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_pauses.schedule IS 'The schedule''s name.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_pauses.account IS 'The account''s name in Ferry''s configuration.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.schedule_pauses.paused_at IS 'Since when.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.id IS 'The rule''s id on the platform (uint64).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.account_id IS 'The platform''s id of the owning account (uint64).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.folder_id IS 'The folder that contains the rule (uint64).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.name IS 'The rule''s name.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.labels IS 'The rule''s labels, a flat object of texts; null if the platform sent none.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.ds_type IS 'Data source type, for example prometheus. An open set of values.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.enabled IS 'Whether the rule is switched on.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.debug_log_enabled IS 'Whether the rule writes a debug log.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.cron_pattern IS 'When the rule is evaluated, as the platform wrote it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.timezone IS 'The IANA time zone in which cron_pattern is read; null if the platform sent none. The platform reads an empty one as Asia/Shanghai.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.delay_seconds IS 'Evaluation delay in seconds.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.creator_id IS 'Id of the person who created the rule (uint64).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.creator_name IS 'Name of the person who created the rule.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.updater_id IS 'Id of the person who changed the rule last (uint64).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.updater_name IS 'Name of the person who changed the rule last.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.created_at IS 'When the rule was created, as the platform gave it. Its unit is not documented.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.updated_at IS 'When the rule was last changed, as the platform gave it. Its unit is not documented.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.server_id IS 'The server''s id on the platform.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.account_id IS 'The platform''s id of the owning account (uint64).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.team_id IS 'The owning team (uint64); 0 appears for an account-level server.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.can_edit IS 'Whether the owner of the app key may edit the server.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.server_name IS 'The server''s name.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.description IS 'What its owners say it does.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.transport IS 'Transport, for example streamable-http. An open set of values.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.url IS 'The server''s address.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.status IS 'For example enabled. An open set of values.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.connect_timeout IS 'Connection timeout, as the platform gave it. Its unit is not documented.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.call_timeout IS 'Call timeout, as the platform gave it. Its unit is not documented.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.tool_count IS 'Number of tools, as the platform counts them.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.tools IS 'The recorded tools: an array of {name, description}. Not a live probe of the server. One row each in mcp_server_tools.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.auth_mode IS 'For example shared. An open set of values.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.created_by IS 'Id of the person who registered the server (uint64).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.created_at IS 'When the server was registered, as the platform gave it. Its unit is not documented.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.updated_at IS 'When the server was last changed, as the platform gave it. Its unit is not documented.';
--> statement-breakpoint
-- Records one more call in the call log if every window has room for it; otherwise says how long to wait. One row: call_id,
-- or wait_ms. `poll_soon` is true while the wait depends on calls in flight, which may well end before their counted_by:
-- ask again after a short while.
--
-- The row of platform_limits is locked first. Each statement of a volatile plpgsql function has a snapshot of its own, so
-- the count that follows sees all calls that were recorded before the lock was granted. One statement that locked and
-- counted would count with a snapshot older than the lock, and would let too many calls through.
--
-- Which calls count, and until when, is said in full_windows.sql.
--
-- `is_unknown`: this is not the database that Ferry knew, so its call log may lack calls; none is recorded. The last three
-- parameters are those of is_known_database.sql.
CREATE OR REPLACE FUNCTION ferry_internal.acquire_permit(
  p_limit_key text, p_operation text, p_account text, p_run_id bigint,
  p_max_calls int[], p_window_ms int[], p_arrival_bound_ms int,
  p_own_call bigint DEFAULT NULL, p_own_request_id text DEFAULT NULL, p_own_age_ms double precision DEFAULT NULL,
  OUT call_id bigint, OUT wait_ms double precision, OUT poll_soon boolean, OUT is_unknown boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_blocked_until timestamptz;
  v_now timestamptz;
  v_free_at timestamptz;
BEGIN
  SELECT l.blocked_until INTO v_blocked_until FROM ferry.platform_limits l
    WHERE l.limit_key = p_limit_key AND l.operation = p_operation FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO ferry.platform_limits (limit_key, operation) VALUES (p_limit_key, p_operation)
      ON CONFLICT DO NOTHING;
    SELECT l.blocked_until INTO v_blocked_until FROM ferry.platform_limits l
      WHERE l.limit_key = p_limit_key AND l.operation = p_operation FOR UPDATE;
  END IF;

  SELECT NOT (k.is_same AND k.has_call) INTO is_unknown
    FROM ferry_internal.is_known_database(p_own_call, p_own_request_id, p_own_age_ms) k;
  IF is_unknown THEN
    wait_ms := 0;
    poll_soon := true;
    RETURN;
  END IF;

  v_now := clock_timestamp();
  v_free_at := greatest(v_blocked_until, v_now);
  SELECT greatest(v_free_at, max(w.free_at)), coalesce(bool_or(w.is_in_flight), false) INTO v_free_at, poll_soon
    FROM ferry_internal.full_windows(p_limit_key, p_operation, p_max_calls, p_window_ms, v_now) w;

  IF v_free_at > v_now THEN
    wait_ms := extract(epoch FROM v_free_at - v_now) * 1000;
    RETURN;
  END IF;
  INSERT INTO ferry.platform_calls (limit_key, account, operation, started, counted_by, run_id)
    VALUES (p_limit_key, p_account, p_operation, v_now, v_now + p_arrival_bound_ms * interval '1 ms', p_run_id)
    RETURNING id INTO call_id;
END $$;

COMMENT ON FUNCTION ferry_internal.acquire_permit IS 'Records one more call in the call log, or says how long to wait. For Ferry itself.';
--> statement-breakpoint
-- The calls that the platform may still count after p_since, and until when each counts; see full_windows.sql.
-- The planner puts the body in the place of the call. The first comparison follows from the second; it is there for the index.
CREATE OR REPLACE FUNCTION ferry_internal.counted_calls(p_limit_key text, p_operation text, p_since timestamptz)
RETURNS TABLE (started timestamptz, counts_until timestamptz) LANGUAGE sql STABLE AS $$
  SELECT c.started, least(c.finished, c.counted_by) FROM ferry.platform_calls c
  WHERE c.limit_key = p_limit_key AND c.operation = p_operation
    AND c.counted_by > p_since AND least(c.finished, c.counted_by) > p_since
$$;

COMMENT ON FUNCTION ferry_internal.counted_calls IS 'The calls that the platform may still count after an instant. For Ferry itself.';
--> statement-breakpoint
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
--> statement-breakpoint
-- Gives the columns of a view the comments of the columns of the same name in the relation they come from: they mean
-- the same. For the files of views; a comment that follows the call replaces what it gave.
CREATE OR REPLACE FUNCTION ferry_internal.describe_columns(p_view regclass, p_source regclass) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_column record;
BEGIN
  FOR v_column IN
    SELECT a.attname AS name, col_description(s.attrelid, s.attnum) AS comment
    FROM pg_attribute a JOIN pg_attribute s ON s.attrelid = p_source AND s.attname = a.attname AND s.attnum > 0
    WHERE a.attrelid = p_view AND a.attnum > 0 AND col_description(s.attrelid, s.attnum) IS NOT NULL
  LOOP
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', p_view, v_column.name, v_column.comment);
  END LOOP;
END $$;

COMMENT ON FUNCTION ferry_internal.describe_columns IS 'Copies the comments of columns to the view that shows them. For Ferry itself.';
--> statement-breakpoint
-- Records the end of a call. `finished` is the moment when an answer of the platform came: p_answered_ms_ago, by the clock
-- of the worker, before it is recorded here, so never too early. No answer, or a gateway's in its place, proves nothing: the
-- call then counts until counted_by.
--
-- p_is_over_limit: the platform refused the call because of its limit. That moves blocked_until forward, never back, for
-- every worker: by the back-off of the strike (the last one, from that strike on), or by p_retry_after_ms if that is
-- longer. Answers to calls sent before the block are one strike with it. Any other answer ends the strikes.
CREATE OR REPLACE FUNCTION ferry_internal.finish_call(
  p_call_id bigint, p_answered_ms_ago double precision, p_http_status int, p_error_code text, p_request_id text,
  p_is_over_limit boolean, p_retry_after_ms double precision, p_back_off_ms int[]
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_call ferry.platform_calls;
  v_limit ferry.platform_limits;
  v_strikes int;
BEGIN
  UPDATE ferry.platform_calls SET
      finished = CASE WHEN p_answered_ms_ago IS NOT NULL THEN
        greatest(started, clock_timestamp() - interval '1 ms' * p_answered_ms_ago) END,
      http_status = p_http_status, error_code = p_error_code, request_id = p_request_id
    WHERE id = p_call_id RETURNING * INTO v_call;
  IF p_is_over_limit THEN
    SELECT * INTO v_limit FROM ferry.platform_limits l
      WHERE l.limit_key = v_call.limit_key AND l.operation = v_call.operation FOR UPDATE;
    v_strikes := v_limit.strikes + coalesce(v_call.started > v_limit.blocked_until, true)::int;
    UPDATE ferry.platform_limits l SET
        strikes = v_strikes,
        blocked_by = p_call_id,
        blocked_until = greatest(l.blocked_until, clock_timestamp() + interval '1 ms' * greatest(
          p_retry_after_ms, p_back_off_ms[least(greatest(v_strikes, 1), cardinality(p_back_off_ms))]))
      WHERE l.limit_key = v_call.limit_key AND l.operation = v_call.operation;
  ELSIF p_answered_ms_ago IS NOT NULL THEN
    UPDATE ferry.platform_limits SET strikes = 0
      WHERE limit_key = v_call.limit_key AND operation = v_call.operation AND strikes > 0
        AND v_call.started > blocked_until;
  END IF;
END $$;

COMMENT ON FUNCTION ferry_internal.finish_call IS 'Records the end of a call. For Ferry itself.';
--> statement-breakpoint
-- One row for each window of a limit that has no room for another call at p_at: when it will have, and whether that depends
-- on calls in flight, which may well end before their counted_by.
--
-- A call counts in a window until the platform must have forgotten it: the platform counts it at some time between the
-- moment Ferry sent it and least(finished, counted_by). The youngest call but one less than the limit decides: once it has
-- left the window, there is room for one more.
--
-- The planner puts the body in the place of the call.
CREATE OR REPLACE FUNCTION ferry_internal.full_windows(
  p_limit_key text, p_operation text, p_max_calls int[], p_window_ms int[], p_at timestamptz
) RETURNS TABLE (free_at timestamptz, is_in_flight boolean) LANGUAGE sql STABLE AS $$
  SELECT c.counts_until + w.ms * interval '1 ms', c.counts_until > p_at
  FROM unnest(p_max_calls, p_window_ms) AS w (max_calls, ms)
  CROSS JOIN LATERAL (
    SELECT c.counts_until FROM ferry_internal.counted_calls(p_limit_key, p_operation, p_at - w.ms * interval '1 ms') c
    ORDER BY c.counts_until DESC OFFSET w.max_calls - 1 LIMIT 1) c
$$;

COMMENT ON FUNCTION ferry_internal.full_windows IS 'The windows of a limit that have no room for another call, and when they will have. For Ferry itself.';
--> statement-breakpoint
-- Whether this is the database that Ferry knew (known_database), and none that was restored or that lags behind: the same
-- server, timeline and database; the row is where Ferry wrote it, not a copy of it (a copy has another xmin); and it has the last
-- call that the asking process recorded: p_call and its p_request_id, p_age_ms ago. A change that was noticed since then has
-- been told. What is not known is no difference, and neither is a database that Ferry has not used yet.
CREATE OR REPLACE FUNCTION ferry_internal.is_known_database(
  p_call bigint, p_request_id text, p_age_ms double precision, OUT is_same boolean, OUT has_call boolean
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  SELECT (k.system_identifier = n.system_identifier) IS NOT FALSE AND (k.timeline = n.timeline) IS NOT FALSE
      AND k.database_oid = n.database_oid AND k.written_by = k.xmin::text
    INTO is_same FROM ferry.known_database k, ferry_internal.database_now() n;
  is_same := coalesce(is_same, true);
  has_call := p_call IS NULL
    OR EXISTS (SELECT FROM ferry.platform_calls c WHERE c.id = p_call AND c.request_id = p_request_id)
    OR EXISTS (SELECT FROM ferry.database_changes h
      WHERE h.noticed_at > clock_timestamp() - p_age_ms * interval '1 ms');
END $$;

COMMENT ON FUNCTION ferry_internal.is_known_database IS 'Whether this is the database that Ferry knew, and has the last call of the process that asks. For Ferry itself.';
--> statement-breakpoint
-- What a limit allows for an operation at this moment: until when the next call waits, until when a refusal stops all calls, how
-- many calls count in the longest window, and for how long the first of them has. It reads one snapshot and acquires nothing.
CREATE OR REPLACE FUNCTION ferry_internal.limit_state(
  p_limit_key text, p_operation text, p_max_calls int[], p_window_ms int[],
  OUT wait_ms double precision, OUT closed_ms double precision, OUT counted integer, OUT counted_for_ms double precision
) LANGUAGE sql STABLE AS $$
  WITH calls AS (
    SELECT count(*)::integer AS counted, min(c.started) AS first
    FROM ferry_internal.counted_calls(p_limit_key, p_operation, now() - (SELECT max(ms) FROM unnest(p_window_ms) ms) * interval '1 ms') c
  ), windows AS (
    SELECT max(w.free_at) AS free_at FROM ferry_internal.full_windows(p_limit_key, p_operation, p_max_calls, p_window_ms, now()) w
  ), closed AS (
    SELECT max(l.blocked_until) AS until FROM ferry.platform_limits l
    WHERE l.limit_key = p_limit_key AND l.operation = p_operation
  )
  SELECT greatest(extract(epoch FROM greatest(windows.free_at, closed.until) - now()), 0)::float8 * 1000,
    greatest(extract(epoch FROM closed.until - now()), 0)::float8 * 1000,
    calls.counted, coalesce(extract(epoch FROM now() - calls.first), 0)::float8 * 1000
  FROM calls, windows, closed
$$;

COMMENT ON FUNCTION ferry_internal.limit_state IS 'What a limit allows for an operation now, in milliseconds and calls. For Ferry itself.';
--> statement-breakpoint
-- The calls of the call log, each with its limit. As its owner, and without the keys of limits, which have hashes of keys in them.
CREATE OR REPLACE VIEW ferry_internal.limited_calls AS
  SELECT c.id, l.id AS limit_id, l.calls_per_minute, c.account, c.operation, c.started, c.counted_by, c.finished,
    c.http_status, c.batch_id
  FROM ferry.platform_limits l
  JOIN ferry.platform_calls c ON c.limit_key = l.limit_key AND c.operation = l.operation;

COMMENT ON VIEW ferry_internal.limited_calls IS 'The calls to the platform, each with the limit that it counts for. Ask for counted_by too, for the index.';
SELECT ferry_internal.describe_columns('ferry_internal.limited_calls', 'ferry.platform_limits');
SELECT ferry_internal.describe_columns('ferry_internal.limited_calls', 'ferry.platform_calls');
COMMENT ON COLUMN ferry_internal.limited_calls.limit_id IS 'The limit (platform_limits.id). Accounts that share a limit have one.';
--> statement-breakpoint
-- Whether p_token has the lease. If it has, nobody takes the lease over until the transaction ends, however long that is.
-- p_in_use: the lease counts as in use until then, see leases.ts. Otherwise its holder renews it meanwhile, however many
-- transactions do the same.
CREATE OR REPLACE FUNCTION ferry_internal.lock_lease(p_name text, p_token uuid, p_in_use boolean) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_expires_at timestamptz;
BEGIN
  IF p_in_use THEN
    SELECT l.expires_at INTO v_expires_at FROM ferry.leases l WHERE l.name = p_name AND l.token = p_token FOR UPDATE;
  ELSE
    SELECT l.expires_at INTO v_expires_at FROM ferry.leases l WHERE l.name = p_name AND l.token = p_token FOR KEY SHARE;
  END IF;
  RETURN coalesce(v_expires_at > clock_timestamp(), false);
END $$;

COMMENT ON FUNCTION ferry_internal.lock_lease IS 'Locks a lease and returns whether the token has it. For Ferry itself.';
--> statement-breakpoint
-- Counts only, with the barrier of rejects_by_reason. By the line, so that 10,000 rows of each kind are read at most.
CREATE OR REPLACE VIEW ferry_internal.import_reasons WITH (security_barrier = true) AS
  SELECT i.id AS import, 'rejected' AS kind, r.origin AS rejected_by, r.reason, count(*)::integer AS rows
  FROM ferry.imports i
  CROSS JOIN LATERAL (
    SELECT origin, reason FROM ferry.import_rejects WHERE import_id = i.id ORDER BY line LIMIT 10000
  ) r
  GROUP BY i.id, r.origin, r.reason
  UNION ALL
  SELECT i.id, l.kind, NULL, l.reason, count(*)::integer
  FROM ferry.imports i
  CROSS JOIN LATERAL (
    SELECT kind, reason FROM ferry.import_left_out WHERE import_id = i.id ORDER BY line LIMIT 10000
  ) l
  GROUP BY i.id, l.kind, l.reason;

COMMENT ON VIEW ferry_internal.import_reasons IS 'Why rows of an import are not sent and how many, counted in its first 10,000 rejects and as many rows left out. Counts only. For Ferry itself; rejects_by_reason counts all.';
COMMENT ON COLUMN ferry_internal.import_reasons.import IS 'The import (imports.id).';
COMMENT ON COLUMN ferry_internal.import_reasons.kind IS 'rejected, or why it was left out: duplicate, suppressed or already imported.';
COMMENT ON COLUMN ferry_internal.import_reasons.rejected_by IS 'file: by the check of the file; platform: by the platform. Null for what was left out.';
COMMENT ON COLUMN ferry_internal.import_reasons.reason IS 'Why, as a code.';
COMMENT ON COLUMN ferry_internal.import_reasons.rows IS 'How many rows.';
--> statement-breakpoint
-- Puts smaller batches in the place of one, uncertain or sent, of which lines are set aside: those were not in the call, so
-- each is to be sent alone, as uncertain as it was before it, and what lies between them stays as it is. If the batch was sent,
-- the reasons of those lines stay too: refused alone, they are rejects.
-- The two settings: see claim_batch.sql.
CREATE OR REPLACE FUNCTION ferry_internal.carve_batch(p_batch bigint, p_was_uncertain boolean) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  v ferry.import_batches;
BEGIN
  SELECT * INTO v FROM ferry.import_batches b WHERE b.id = p_batch;
  INSERT INTO ferry.import_batches (import_id, parent_id, from_line, to_line, rows, state, resends, uncertain,
      reasons, claimed_at, call_id, sent_at, http_status, error_code, request_id, message)
    SELECT v.import_id, v.id, min(r.line), max(r.line), count(*), CASE WHEN r.aside THEN 'ready' ELSE v.state END,
      v.resends, CASE WHEN r.aside THEN p_was_uncertain ELSE v.uncertain END,
      CASE WHEN r.aside AND v.state = 'sent'
        THEN jsonb_build_object(min(r.line)::text, v.reasons -> min(r.line)::text) ELSE '{}' END,
      CASE WHEN NOT r.aside THEN v.claimed_at END, CASE WHEN NOT r.aside THEN v.call_id END,
      CASE WHEN NOT r.aside THEN v.sent_at END,
      CASE WHEN NOT r.aside THEN v.http_status END, CASE WHEN NOT r.aside THEN v.error_code END,
      CASE WHEN NOT r.aside THEN v.request_id END, CASE WHEN NOT r.aside THEN v.message END
    FROM (
      SELECT r.line, r.aside, count(*) FILTER (WHERE r.aside) OVER (ORDER BY r.line) AS asides_before FROM (
        SELECT r.line, r.line = ANY (v.set_aside) AS aside FROM ferry.import_recipients r
        WHERE r.import_id = v.import_id AND r.line BETWEEN v.from_line AND v.to_line) r) r
    GROUP BY r.aside, r.asides_before;
  UPDATE ferry.import_batches b SET state = 'split', set_aside = '{}', reasons = '{}' WHERE b.id = p_batch;
END $$;

COMMENT ON FUNCTION ferry_internal.carve_batch IS 'Puts smaller batches in the place of an uncertain or sent one of which lines are set aside. For Ferry itself.';
--> statement-breakpoint
-- Claims the next batch of an import and acquires the permit of its call, both or neither. One row; `what` is
--
--   claimed      a batch to be sent now: batch_id, call_id
--   wait         ask again in wait_ms; `poll_soon` as acquire_permit says it
--   turn         another import that waits for the same limit is to get the next permit first
--   exhausted    nothing is left to claim, but calls may come back
--   expired      claims of it have expired; reclaim.ts ends them, then ask again
--   ended        it is not running, or not any more: status
--   lost         the lease is not the caller's any more, or the claim is not
--   unknown      this is not the database that Ferry knew (is_known_database.sql): nothing is claimed before that is noticed
--
-- The rows are locked in the order in which everybody locks them: lease, import, limit.
--
-- p_claim is new for every claim, and the same when it is asked for again because no answer came: then the claim that
-- was made is returned, or released if it is not to be sent any more. With p_again it is a claim that has returned its
-- permit, which expired before anything was sent: it gets another one.
--
-- p_largest_first_after: from this number of refusals in a row on, the largest batch is claimed instead of the smallest.
-- p_row_overhead_bytes: what a row has in a request besides its values. p_turn_lapses_ms: an import that has not asked for
-- so long does not wait any more. p_note_waiting_every_ms: how often one that waits is written down.
--
-- The settings: this function is called for every batch, its plans are made before the tables have their size, and they are
-- kept. Without the first two it may read all rows of an import before those of one batch. They make the one row of
-- known_database look so expensive that Postgres would compile its query for 100 ms, at every claim: hence no jit.
CREATE OR REPLACE FUNCTION ferry_internal.claim_batch(
  p_import bigint, p_lease text, p_token uuid, p_claim uuid, p_again boolean, p_limit_key text, p_max_calls int[],
  p_window_ms int[], p_arrival_bound_ms int, p_claim_ms int, p_max_bytes int,
  p_row_overhead_bytes int, p_largest_first_after int, p_turn_lapses_ms int, p_note_waiting_every_ms int,
  p_own_call bigint, p_own_request_id text, p_own_age_ms double precision,
  OUT what text, OUT status text, OUT wait_ms double precision, OUT poll_soon boolean, OUT batch_id bigint,
  OUT call_id bigint
) LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
  v ferry.imports;
  v_batch ferry.import_batches;
  v_is_held boolean;
  v_is_kept boolean;
  v_max_rows int;
  v_permit record;
  v_now timestamptz;
BEGIN
  poll_soon := false;
  v_is_held := ferry_internal.lock_lease(p_lease, p_token, false);
  SELECT * INTO v FROM ferry.imports i WHERE i.id = p_import FOR UPDATE;
  IF NOT v_is_held OR v.status IS DISTINCT FROM 'running' THEN
    PERFORM ferry_internal.release_claim(p_import, p_claim);
    what := CASE WHEN v_is_held THEN 'ended' ELSE 'lost' END;
    status := v.status;
    RETURN;
  END IF;

  SELECT * INTO v_batch FROM ferry.import_batches b WHERE b.claim = p_claim AND b.state = 'in flight';
  v_is_kept := v_batch.id IS NOT NULL;
  IF v_batch.call_id IS NOT NULL THEN
    what := 'claimed';
    batch_id := v_batch.id;
    call_id := v_batch.call_id;
    RETURN;
  ELSIF p_again AND NOT v_is_kept THEN
    what := 'lost';
    RETURN;
  ELSIF NOT v_is_kept THEN
    IF EXISTS (
      SELECT FROM ferry.import_batches b
      WHERE b.import_id = p_import AND ferry_internal.is_expired_claim(b.state, b.claim_ends_at, clock_timestamp())
    ) THEN
      what := 'expired';
      RETURN;
    END IF;
    -- Smallest first: so the halves of a refused batch follow it at once, and a row that is at fault is alone soon.
    LOOP
      IF v.unaccepted < p_largest_first_after THEN
        SELECT * INTO v_batch FROM ferry.import_batches b WHERE b.import_id = p_import AND b.state = 'ready'
          ORDER BY b.rows, b.from_line LIMIT 1;
      ELSE
        SELECT * INTO v_batch FROM ferry.import_batches b WHERE b.import_id = p_import AND b.state = 'ready'
            AND b.rows = (SELECT l.rows FROM ferry.import_batches l WHERE l.import_id = p_import AND l.state = 'ready'
              ORDER BY l.rows DESC LIMIT 1)
          ORDER BY b.from_line LIMIT 1;
      END IF;
      EXIT WHEN v_batch.id IS NULL OR v_batch.rows - cardinality(v_batch.set_aside) <= v.max_rows IS NOT FALSE;
      PERFORM ferry_internal.split_batch(v_batch.id);
    END LOOP;
    IF v_batch.id IS NULL THEN
      v_max_rows := least(v.batch_rows, v.max_rows, v.first_rows - v.batched - v.rejected_by_platform);
      PERFORM FROM ferry.import_recipients r WHERE r.import_id = p_import AND r.line > v.batched_to
        ORDER BY r.line LIMIT 1;
      IF NOT (FOUND AND v_max_rows > 0) THEN
        what := 'exhausted';
        RETURN;
      END IF;
    END IF;

    v_now := clock_timestamp();
    IF v.retry_at > v_now THEN
      what := 'wait';
      wait_ms := extract(epoch FROM v.retry_at - v_now) * 1000;
      RETURN;
    END IF;
  END IF;

  SELECT * INTO v_permit FROM ferry_internal.acquire_permit(
    p_limit_key, 'import-subscribers', v.account, NULL, p_max_calls, p_window_ms, p_arrival_bound_ms,
    p_own_call, p_own_request_id, p_own_age_ms);
  IF v_permit.is_unknown THEN
    what := 'unknown';
    RETURN;
  ELSIF v_permit.call_id IS NULL THEN
    what := 'wait';
    wait_ms := v_permit.wait_ms;
    poll_soon := v_permit.poll_soon;
  ELSIF NOT v_is_kept AND EXISTS (
    -- Imports that wait for permits of one limit at the same time take turns.
    SELECT FROM ferry.imports o
    WHERE o.finished_at IS NULL AND o.status = 'running' AND o.wants_limit = p_limit_key AND o.id <> v.id
      AND o.wants_at > v_now - p_turn_lapses_ms * interval '1 ms'
      AND (coalesce(o.served_at, '-infinity'), o.id) < (coalesce(v.served_at, '-infinity'), v.id)
      AND (o.retry_at <= v_now) IS NOT FALSE
  ) THEN
    DELETE FROM ferry.platform_calls c WHERE c.id = v_permit.call_id;
    what := 'turn';
  END IF;
  IF what IS NOT NULL THEN
    UPDATE ferry.imports i SET wants_at = clock_timestamp(), wants_limit = p_limit_key
      WHERE i.id = p_import AND (i.wants_at > clock_timestamp() - p_note_waiting_every_ms * interval '1 ms') IS NOT TRUE;
    RETURN;
  END IF;

  v_now := clock_timestamp();
  IF v_batch.id IS NULL THEN
    -- One row is always claimed, however large. Rows that other imports may have sent are sent again.
    INSERT INTO ferry.import_batches (import_id, from_line, to_line, rows, state, resends, claim, claimed_at,
        claim_ends_at, call_id)
      SELECT p_import, min(s.line), max(s.line), count(*), 'in flight', coalesce(max(s.maybe_sent), 0), p_claim, v_now,
        v_now + p_claim_ms * interval '1 ms', v_permit.call_id
      FROM (
        SELECT r.line, r.maybe_sent, row_number() OVER w AS n, sum(r.bytes) OVER w AS bytes FROM (
          SELECT r.line, r.maybe_sent, p_row_overhead_bytes + octet_length(r.recipient) + octet_length(r.locale)
            + coalesce(octet_length(array_to_string(r.component_ids, '","')), 0) AS bytes
          FROM ferry.import_recipients r WHERE r.import_id = p_import AND r.line > v.batched_to
          ORDER BY r.line LIMIT v_max_rows) r
        WINDOW w AS (ORDER BY r.line)) s
      WHERE s.n = 1 OR s.bytes <= p_max_bytes
      RETURNING * INTO v_batch;
  ELSE
    UPDATE ferry.import_batches b SET state = 'in flight', claim = p_claim, claimed_at = v_now,
        claim_ends_at = v_now + p_claim_ms * interval '1 ms', call_id = v_permit.call_id
      WHERE b.id = v_batch.id;
  END IF;
  UPDATE ferry.imports i SET batched_to = greatest(i.batched_to, v_batch.to_line), requests = i.requests + 1,
      wants_at = NULL, served_at = v_now
    WHERE i.id = p_import;
  UPDATE ferry.platform_calls c SET batch_id = v_batch.id WHERE c.id = v_permit.call_id;
  what := 'claimed';
  batch_id := v_batch.id;
  call_id := v_permit.call_id;
END $$;

COMMENT ON FUNCTION ferry_internal.claim_batch IS 'Claims the next batch of an import with a permit for its call, or says what to do instead. For Ferry itself.';
--> statement-breakpoint
-- Keeps an import's counts of its batches, of the rows in them, and of those sent and uncertain. Whoever changes the
-- rows, state or certainty of a batch must lock the row of the import before the row of the batch.
CREATE OR REPLACE FUNCTION ferry_internal.count_batches() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    UPDATE ferry.imports i SET batches = i.batches + d.batches, batched = i.batched + d.batched, sent = i.sent + d.sent,
        uncertain = i.uncertain + d.uncertain
      FROM (
        SELECT b.import_id, count(*) AS batches, sum(b.rows) AS batched,
          coalesce(sum(b.rows) FILTER (WHERE b.state = 'sent'), 0) AS sent,
          coalesce(sum(b.rows) FILTER (WHERE ferry_internal.is_uncertain_batch(b.state, b.uncertain)), 0) AS uncertain
        FROM new_batches b WHERE b.state <> 'split' GROUP BY b.import_id) d
      WHERE i.id = d.import_id;
  ELSE
    UPDATE ferry.imports i SET batches = i.batches + d.batches, batched = i.batched + d.batched, sent = i.sent + d.sent,
        uncertain = i.uncertain + d.uncertain
      FROM (
        SELECT b.import_id, sum(b.sign) AS batches, sum(b.sign * b.rows) AS batched,
          coalesce(sum(b.sign * b.rows) FILTER (WHERE b.state = 'sent'), 0) AS sent,
          coalesce(sum(b.sign * b.rows) FILTER (WHERE ferry_internal.is_uncertain_batch(b.state, b.uncertain)), 0) AS uncertain
        FROM (
          SELECT 1 AS sign, n.import_id, n.rows, n.state, n.uncertain FROM new_batches n
          UNION ALL
          SELECT -1, o.import_id, o.rows, o.state, o.uncertain FROM old_batches o) b
        WHERE b.state <> 'split' GROUP BY b.import_id) d
      WHERE i.id = d.import_id AND (d.batches, d.batched, d.sent, d.uncertain) <> (0, 0, 0, 0);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER import_batches_made AFTER INSERT ON ferry.import_batches
  REFERENCING NEW TABLE AS new_batches FOR EACH STATEMENT EXECUTE FUNCTION ferry_internal.count_batches();

CREATE OR REPLACE TRIGGER import_batches_changed AFTER UPDATE ON ferry.import_batches
  REFERENCING OLD TABLE AS old_batches NEW TABLE AS new_batches FOR EACH STATEMENT EXECUTE FUNCTION ferry_internal.count_batches();

COMMENT ON FUNCTION ferry_internal.count_batches IS 'Keeps an import''s counts of batches and of the rows in them. For Ferry itself.';
--> statement-breakpoint
-- Keeps how many rows of each locale an import has sent: when a batch becomes sent, its rows are counted, but those set
-- aside, which are rejected. The table of recipients may be as large as it likes, and its statistics old: by its index.
CREATE OR REPLACE FUNCTION ferry_internal.count_locales() RETURNS trigger LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO ferry.import_locales AS l (import_id, locale, sent)
    SELECT r.import_id, r.locale, count(*) FROM ferry.import_recipients r
    WHERE r.import_id = NEW.import_id AND r.line BETWEEN NEW.from_line AND NEW.to_line AND r.line <> ALL (NEW.set_aside)
    GROUP BY r.import_id, r.locale ORDER BY r.locale
    ON CONFLICT (import_id, locale) DO UPDATE SET sent = l.sent + excluded.sent;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER import_batches_sent_locales AFTER UPDATE OF state ON ferry.import_batches
  FOR EACH ROW WHEN (NEW.state = 'sent' AND OLD.state <> 'sent') EXECUTE FUNCTION ferry_internal.count_locales();

COMMENT ON FUNCTION ferry_internal.count_locales IS 'Keeps how many rows of each locale an import has sent. For Ferry itself.';
--> statement-breakpoint
-- Returns the permit of a batch's call that was not made. The caller has locked the import's row.
CREATE OR REPLACE FUNCTION ferry_internal.release_call(p_import bigint, p_call bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  DELETE FROM ferry.platform_calls c WHERE c.id = p_call;
  IF FOUND THEN
    UPDATE ferry.imports i SET requests = i.requests - 1 WHERE i.id = p_import;
  END IF;
END $$;

COMMENT ON FUNCTION ferry_internal.release_call IS 'Returns the permit of a call that was not made. For Ferry itself.';
--> statement-breakpoint
-- Releases a claim with which nothing was sent: its batch is as if it had never been claimed, and its permit is returned.
-- The two settings: see claim_batch.sql.
CREATE OR REPLACE FUNCTION ferry_internal.release_claim(p_import bigint, p_claim uuid) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  v_batch bigint;
  v_call bigint;
BEGIN
  PERFORM FROM ferry.imports i WHERE i.id = p_import FOR UPDATE;
  SELECT b.id, b.call_id INTO v_batch, v_call FROM ferry.import_batches b
    WHERE b.claim = p_claim AND b.state = 'in flight';
  IF NOT FOUND THEN
    RETURN;
  END IF;
  UPDATE ferry.import_batches b SET state = 'ready', claim = NULL, claimed_at = NULL, claim_ends_at = NULL,
      call_id = NULL
    WHERE b.id = v_batch;
  PERFORM ferry_internal.release_call(p_import, v_call);
END $$;

COMMENT ON FUNCTION ferry_internal.release_claim IS 'Releases a claim with which nothing was sent. For Ferry itself.';
--> statement-breakpoint
-- Puts two smaller batches in the place of one that has at least two rows. What made the whole uncertain, or was sent
-- again, is so for either; lines set aside are back in.
-- The two settings: see claim_batch.sql.
CREATE OR REPLACE FUNCTION ferry_internal.split_batch(p_batch bigint) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  v ferry.import_batches;
  v_half bigint;
BEGIN
  UPDATE ferry.import_batches SET state = 'split', claim = NULL, claim_ends_at = NULL, set_aside = '{}', reasons = '{}'
    WHERE id = p_batch RETURNING * INTO v;
  SELECT r.line INTO STRICT v_half FROM ferry.import_recipients r
    WHERE r.import_id = v.import_id AND r.line BETWEEN v.from_line AND v.to_line
    ORDER BY r.line OFFSET v.rows / 2 - 1 LIMIT 1;
  INSERT INTO ferry.import_batches (import_id, parent_id, from_line, to_line, rows, state, resends, uncertain)
    VALUES (v.import_id, v.id, v.from_line, v_half, v.rows / 2, 'ready', v.resends, v.uncertain),
      (v.import_id, v.id, v_half + 1, v.to_line, v.rows - v.rows / 2, 'ready', v.resends, v.uncertain);
END $$;

COMMENT ON FUNCTION ferry_internal.split_batch IS 'Puts two smaller batches in the place of one. For Ferry itself.';
--> statement-breakpoint
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
--> statement-breakpoint
-- Whether the claim of a batch has expired at p_at: its worker has been silent for longer than the call can last.
-- The planner puts the body in the place of the call, so a query that asks this finds the batches by the partial index
-- import_batches_in_flight and need not test the state too.
CREATE OR REPLACE FUNCTION ferry_internal.is_expired_claim(p_state text, p_claim_ends_at timestamptz, p_at timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_state = 'in flight' AND p_claim_ends_at <= p_at;

COMMENT ON FUNCTION ferry_internal.is_expired_claim IS 'Whether a batch in this state, with this end of its claim, has an expired claim at an instant.';
--> statement-breakpoint
-- Whether the recipients of a batch are still to be sent, or to be decided about after a call.
CREATE OR REPLACE FUNCTION ferry_internal.is_open_batch(p_state text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_state IN ('ready', 'in flight', 'suspect');

COMMENT ON FUNCTION ferry_internal.is_open_batch IS 'Whether the recipients of a batch in this state are still to be sent.';
--> statement-breakpoint
-- Whether the outcome of a batch is unknown: it is held for a person, or it is still to be sent after an
-- outcome that was not certain. A batch with an expired claim (is_expired_claim) is uncertain too, as soon as that is
-- recorded.
CREATE OR REPLACE FUNCTION ferry_internal.is_uncertain_batch(p_state text, p_uncertain boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_state = 'uncertain' OR (p_uncertain AND ferry_internal.is_open_batch(p_state));

COMMENT ON FUNCTION ferry_internal.is_uncertain_batch IS 'Whether the outcome of a batch in this state, with this value of uncertain, is unknown: the platform may have taken it.';
--> statement-breakpoint
-- Only fields that differ become jsonb: whole versions as jsonb would take three times as long.
CREATE OR REPLACE FUNCTION ferry_internal.alert_rule_differences(old ferry.alert_rule_versions, new ferry.alert_rule_versions)
RETURNS TABLE (before jsonb, after jsonb) LANGUAGE sql STABLE AS $$
  SELECT
    jsonb_object_agg(f.field, CASE f.field
      WHEN 'account_id' THEN to_jsonb($1.account_id) WHEN 'folder_id' THEN to_jsonb($1.folder_id)
      WHEN 'name' THEN to_jsonb($1.name) WHEN 'labels' THEN to_jsonb($1.labels)
      WHEN 'ds_type' THEN to_jsonb($1.ds_type) WHEN 'enabled' THEN to_jsonb($1.enabled)
      WHEN 'debug_log_enabled' THEN to_jsonb($1.debug_log_enabled) WHEN 'cron_pattern' THEN to_jsonb($1.cron_pattern)
      WHEN 'timezone' THEN to_jsonb($1.timezone) WHEN 'delay_seconds' THEN to_jsonb($1.delay_seconds)
      WHEN 'creator_id' THEN to_jsonb($1.creator_id) WHEN 'creator_name' THEN to_jsonb($1.creator_name)
      WHEN 'updater_id' THEN to_jsonb($1.updater_id) WHEN 'updater_name' THEN to_jsonb($1.updater_name)
      WHEN 'created_at' THEN to_jsonb($1.created_at) WHEN 'updated_at' THEN to_jsonb($1.updated_at)
    END),
    jsonb_object_agg(f.field, CASE f.field
      WHEN 'account_id' THEN to_jsonb($2.account_id) WHEN 'folder_id' THEN to_jsonb($2.folder_id)
      WHEN 'name' THEN to_jsonb($2.name) WHEN 'labels' THEN to_jsonb($2.labels)
      WHEN 'ds_type' THEN to_jsonb($2.ds_type) WHEN 'enabled' THEN to_jsonb($2.enabled)
      WHEN 'debug_log_enabled' THEN to_jsonb($2.debug_log_enabled) WHEN 'cron_pattern' THEN to_jsonb($2.cron_pattern)
      WHEN 'timezone' THEN to_jsonb($2.timezone) WHEN 'delay_seconds' THEN to_jsonb($2.delay_seconds)
      WHEN 'creator_id' THEN to_jsonb($2.creator_id) WHEN 'creator_name' THEN to_jsonb($2.creator_name)
      WHEN 'updater_id' THEN to_jsonb($2.updater_id) WHEN 'updater_name' THEN to_jsonb($2.updater_name)
      WHEN 'created_at' THEN to_jsonb($2.created_at) WHEN 'updated_at' THEN to_jsonb($2.updated_at)
    END)
  FROM unnest(ARRAY[
    CASE WHEN $1.account_id IS DISTINCT FROM $2.account_id THEN 'account_id' END, CASE WHEN $1.folder_id IS DISTINCT FROM $2.folder_id THEN 'folder_id' END,
    CASE WHEN $1.name IS DISTINCT FROM $2.name THEN 'name' END, CASE WHEN $1.labels IS DISTINCT FROM $2.labels THEN 'labels' END,
    CASE WHEN $1.ds_type IS DISTINCT FROM $2.ds_type THEN 'ds_type' END, CASE WHEN $1.enabled IS DISTINCT FROM $2.enabled THEN 'enabled' END,
    CASE WHEN $1.debug_log_enabled IS DISTINCT FROM $2.debug_log_enabled THEN 'debug_log_enabled' END, CASE WHEN $1.cron_pattern IS DISTINCT FROM $2.cron_pattern THEN 'cron_pattern' END,
    CASE WHEN $1.timezone IS DISTINCT FROM $2.timezone THEN 'timezone' END, CASE WHEN $1.delay_seconds IS DISTINCT FROM $2.delay_seconds THEN 'delay_seconds' END,
    CASE WHEN $1.creator_id IS DISTINCT FROM $2.creator_id THEN 'creator_id' END, CASE WHEN $1.creator_name IS DISTINCT FROM $2.creator_name THEN 'creator_name' END,
    CASE WHEN $1.updater_id IS DISTINCT FROM $2.updater_id THEN 'updater_id' END, CASE WHEN $1.updater_name IS DISTINCT FROM $2.updater_name THEN 'updater_name' END,
    CASE WHEN $1.created_at IS DISTINCT FROM $2.created_at THEN 'created_at' END, CASE WHEN $1.updated_at IS DISTINCT FROM $2.updated_at THEN 'updated_at' END
  ]) AS f (field)
  WHERE f.field IS NOT NULL AND $1.fingerprint IS NOT NULL AND $2.fingerprint IS NOT NULL
$$;

COMMENT ON FUNCTION ferry_internal.alert_rule_differences IS 'The fields in which two versions of an alert rule differ, as they were and as they became; null if a version is missing or nothing differs. For views and reports.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.alert_rules AS
  SELECT v.account, v.id, v.account_id, v.folder_id, v.name, v.labels, v.ds_type, v.enabled, v.debug_log_enabled, v.cron_pattern, v.timezone, v.delay_seconds, v.creator_id, v.creator_name, v.updater_id, v.updater_name, v.created_at, v.updated_at,
    EXISTS (SELECT FROM ferry.alert_rule_firings f
            WHERE f.id = v.id AND f.account = v.account AND f.ended IS NULL) AS triggered,
    v.valid_from, v.opened_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NULL;

COMMENT ON VIEW ferry.alert_rules IS 'The current alert rules.';
SELECT ferry_internal.describe_columns('ferry.alert_rules', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rules.triggered IS 'Whether the rule had an active alert when it was last read.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.alert_rules_firing AS
  SELECT f.account, f.id, v.name, v.folder_id, v.labels, f.began, clock_timestamp() - f.began AS firing_for
  FROM ferry.alert_rule_firings f
  LEFT JOIN ferry.alert_rule_versions v ON v.id = f.id AND v.account = f.account AND v.valid_to IS NULL
  WHERE f.ended IS NULL;

COMMENT ON VIEW ferry.alert_rules_firing IS 'The rules that are firing, and since when.';
SELECT ferry_internal.describe_columns('ferry.alert_rules_firing', 'ferry.alert_rule_firings');
SELECT ferry_internal.describe_columns('ferry.alert_rules_firing', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rules_firing.firing_for IS 'How long it has been firing, as observed.';
--> statement-breakpoint
-- Each version is looked up by the key. What only some rows need is asked for in a WHERE: as a condition of the join, it would
-- be looked up for all.
CREATE OR REPLACE FUNCTION ferry_internal.compare_alert_rule(account text, id numeric, a timestamptz, b timestamptz)
RETURNS TABLE (change text, first_reading boolean, old ferry.alert_rule_versions, new ferry.alert_rule_versions)
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN o.fingerprint IS NULL THEN 'added' WHEN n.fingerprint IS NULL THEN 'removed' ELSE 'changed' END,
    coalesce(f.appeared = 'first reading', false), o.version, n.version
  FROM (SELECT) one
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT v AS version, v.fingerprint, v.valid_to FROM ferry.alert_rule_versions v
      WHERE v.id = $2 AND v.account = $1 AND v.valid_from <= $3 ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE v.valid_to IS NULL OR v.valid_to > $3
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT v AS version, v.fingerprint, v.valid_to FROM ferry.alert_rule_versions v
      WHERE v.id = $2 AND v.account = $1 AND v.valid_from <= $4 ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE v.valid_to IS NULL OR v.valid_to > $4
  ) n ON true
  LEFT JOIN LATERAL (
    SELECT v.appeared FROM ferry.alert_rule_versions v
    WHERE v.id = $2 AND v.account = $1 AND v.valid_from > $3 AND o.fingerprint IS NULL AND $3 < $4
    ORDER BY v.valid_from LIMIT 1
  ) f ON true
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint
$$;

COMMENT ON FUNCTION ferry_internal.compare_alert_rule IS 'How an alert rule differs between two instants, with its version at each; no row if it is the same. first_reading: the added rule was found by a first reading. a may be the later instant.';
--> statement-breakpoint
-- Each version is looked up by the key. What only some rows need is asked for in a WHERE: as a condition of the join, it would
-- be looked up for all.
CREATE OR REPLACE FUNCTION ferry_internal.compare_mcp_server(account text, server_id text, a timestamptz, b timestamptz)
RETURNS TABLE (change text, first_reading boolean, old ferry.mcp_server_versions, new ferry.mcp_server_versions)
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN o.fingerprint IS NULL THEN 'added' WHEN n.fingerprint IS NULL THEN 'removed' ELSE 'changed' END,
    coalesce(f.appeared = 'first reading', false), o.version, n.version
  FROM (SELECT) one
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT v AS version, v.fingerprint, v.valid_to FROM ferry.mcp_server_versions v
      WHERE v.server_id = $2 AND v.account = $1 AND v.valid_from <= $3 ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE v.valid_to IS NULL OR v.valid_to > $3
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT v AS version, v.fingerprint, v.valid_to FROM ferry.mcp_server_versions v
      WHERE v.server_id = $2 AND v.account = $1 AND v.valid_from <= $4 ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE v.valid_to IS NULL OR v.valid_to > $4
  ) n ON true
  LEFT JOIN LATERAL (
    SELECT v.appeared FROM ferry.mcp_server_versions v
    WHERE v.server_id = $2 AND v.account = $1 AND v.valid_from > $3 AND o.fingerprint IS NULL AND $3 < $4
    ORDER BY v.valid_from LIMIT 1
  ) f ON true
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint
$$;

COMMENT ON FUNCTION ferry_internal.compare_mcp_server IS 'How an MCP server differs between two instants, with its version at each; no row if it is the same. first_reading: the added server was found by a first reading. a may be the later instant.';
--> statement-breakpoint
-- Called with the moment alone, so a query asks once, not for each row.
CREATE OR REPLACE FUNCTION ferry_internal.expect_history(at timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  IF at < ferry.history_start() THEN
    RAISE EXCEPTION 'The history starts at %: versions that ended before were removed.', ferry.history_start()
      USING ERRCODE = 'FE001', HINT = 'Ask for a later moment. FERRY_KEEP_VERSIONS says how long versions are kept.';
  END IF;
  RETURN true;
END $$;

COMMENT ON FUNCTION ferry_internal.expect_history IS 'True if the history is complete at a moment; else raises an error. The _as_of functions call it.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.history_start() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT starts_at FROM ferry.history), '-infinity')
$$;

COMMENT ON FUNCTION ferry.history_start IS 'The history is complete from this instant on: versions that ended earlier may have been removed. -infinity if none have been.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry_internal.mcp_server_differences(old ferry.mcp_server_versions, new ferry.mcp_server_versions)
RETURNS TABLE (before jsonb, after jsonb) LANGUAGE sql STABLE AS $$
  SELECT jsonb_object_agg(n.key, v.old -> n.key), jsonb_object_agg(n.key, n.value)
  FROM (
    SELECT to_jsonb($1) - '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,appeared}'::text[] AS old OFFSET 0
  ) v, jsonb_each(to_jsonb($2)) n
  WHERE n.value <> v.old -> n.key
$$;

COMMENT ON FUNCTION ferry_internal.mcp_server_differences IS 'The fields in which two versions of an MCP server differ, as they were and as they became; null if a version is missing or nothing differs. For views and reports.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.mcp_server_tools AS
  SELECT v.account, v.server_id, v.server_name, t.position, t.tool ->> 'name' AS name,
    t.tool ->> 'description' AS description
  FROM ferry.mcp_server_versions v
  CROSS JOIN LATERAL jsonb_array_elements(v.tools) WITH ORDINALITY AS t (tool, position)
  WHERE v.valid_to IS NULL;

COMMENT ON VIEW ferry.mcp_server_tools IS 'The recorded tools of the current MCP servers, one row each.';
SELECT ferry_internal.describe_columns('ferry.mcp_server_tools', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_server_tools.position IS 'Where the tool stands in the server''s list, from 1.';
COMMENT ON COLUMN ferry.mcp_server_tools.name IS 'The tool''s name.';
COMMENT ON COLUMN ferry.mcp_server_tools.description IS 'What the tool does.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.mcp_servers AS
  SELECT v.account, v.server_id, v.account_id, v.team_id, v.can_edit, v.server_name, v.description, v.transport, v.url, v.status, v.connect_timeout, v.call_timeout, v.tool_count, v.tools, v.auth_mode, v.created_by, v.created_at, v.updated_at,
    v.valid_from, v.opened_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.mcp_server_versions v
  WHERE v.valid_to IS NULL;

COMMENT ON VIEW ferry.mcp_servers IS 'The current MCP servers.';
SELECT ferry_internal.describe_columns('ferry.mcp_servers', 'ferry.mcp_server_versions');
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_servers_as_of(at timestamptz)
RETURNS TABLE (
  account text, server_id text, account_id numeric(20, 0), team_id numeric(20, 0), can_edit boolean, server_name text, description text, transport text, url text, status text, connect_timeout bigint, call_timeout bigint, tool_count bigint, tools jsonb, auth_mode text, created_by numeric(20, 0), created_at bigint, updated_at bigint,
  valid_from timestamptz, valid_to timestamptz, opened_by_run bigint, closed_by_run bigint,
  fingerprint uuid, flags text[], altered text[]
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.server_id, v.account_id, v.team_id, v.can_edit, v.server_name, v.description, v.transport, v.url, v.status, v.connect_timeout, v.call_timeout, v.tool_count, v.tools, v.auth_mode, v.created_by, v.created_at, v.updated_at,
    v.valid_from, v.valid_to, v.opened_by_run, v.closed_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.mcp_server_versions v
  WHERE v.valid_from <= $1 AND (v.valid_to IS NULL OR v.valid_to > $1)
    AND ferry_internal.expect_history($1)
$$;

COMMENT ON FUNCTION ferry.mcp_servers_as_of IS 'The MCP servers as they were known at a moment; the columns of mcp_servers, and valid_to and closed_by_run. For a moment up to settled_at() the answer never changes.';
--> statement-breakpoint
-- A server that differs has a version that began or ended between the two instants, so only such versions are read.
CREATE OR REPLACE FUNCTION ferry_internal.mcp_servers_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, server_id text, change text, first_reading boolean, old ferry.mcp_server_versions, new ferry.mcp_server_versions
) LANGUAGE sql STABLE AS $$
  SELECT c.account, c.server_id, d.change, d.first_reading, d.old, d.new
  FROM (
    SELECT v.server_id, v.account FROM ferry.mcp_server_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.server_id, v.account FROM ferry.mcp_server_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  CROSS JOIN LATERAL ferry_internal.compare_mcp_server(c.account, c.server_id, $1, $2) d
$$;

COMMENT ON FUNCTION ferry_internal.mcp_servers_between IS 'The MCP servers that differ between two instants, as compare_mcp_server reports them, whatever happened in between.';
--> statement-breakpoint
-- The first part is what the run stored itself. The second is what an earlier run of the same scope stored and this one met
-- again. It runs as its owner, so that the role that only reads need not read the scope, which holds a hash of the key.
CREATE OR REPLACE VIEW ferry_internal.run_quarantine AS
  SELECT q.run_id, q.position, q.id, q.reason, q.run_id AS first_run
  FROM ferry.quarantined_rows q
  UNION ALL
  SELECT run.id, q.position, q.id, q.reason, q.run_id
  FROM ferry.sync_runs run
  JOIN ferry.quarantined_rows q
    ON q.run_id < run.id AND (q.until_run IS NULL OR q.until_run > run.id)
  JOIN ferry.sync_runs earlier
    ON earlier.id = q.run_id AND earlier.account = run.account AND earlier.resource = run.resource AND earlier.scope = run.scope
  WHERE run.applied_at IS NOT NULL;

COMMENT ON VIEW ferry_internal.run_quarantine IS 'The stored rows that each run quarantined, including rows stored by an earlier run. Filter by run_id. At most 500 rows are stored per scope.';
SELECT ferry_internal.describe_columns('ferry_internal.run_quarantine', 'ferry.quarantined_rows');
COMMENT ON COLUMN ferry_internal.run_quarantine.run_id IS 'The run (sync_runs.id) that met the row.';
COMMENT ON COLUMN ferry_internal.run_quarantine.first_run IS 'The run that met it first in this form. The row itself is in quarantined_rows, under this run and this position.';
--> statement-breakpoint
-- What a run writes has an instant later than everything that was applied when its row was committed, and not before its
-- start (choose-instant.ts). So a query that sees a finished run sees all that is not later than it, except what a run that
-- it sees unfinished may still write. Both are looked up in the snapshot of the query that asks.
CREATE OR REPLACE FUNCTION ferry.settled_at() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT least(
    coalesce((SELECT applied_at FROM ferry.sync_runs WHERE applied_at IS NOT NULL ORDER BY applied_at DESC LIMIT 1), '-infinity'),
    (SELECT min(started_at) - interval '1 microsecond' FROM ferry.sync_runs WHERE finished_at IS NULL)
  )
$$;

COMMENT ON FUNCTION ferry.settled_at IS 'The instant up to which the history is final, except that old versions are pruned: every later commit has later instants. To poll for changes, ask for rows observed after the last row you received and up to this instant: you miss nothing and receive nothing twice.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.audit_log AS
  SELECT a.at, a.account, a.actor, a.action, a.subject_kind || ' ' || a.subject_id AS subject, a.because, a.rows, a.of_rows
  FROM ferry.audit a
  ORDER BY a.id DESC;

COMMENT ON VIEW ferry.audit_log IS 'Manual actions, newest first; ferry audit lists the same.';
SELECT ferry_internal.describe_columns('ferry.audit_log', 'ferry.audit');
COMMENT ON COLUMN ferry.audit_log.subject IS 'What it was done to: a run, an import or a schedule, and which one.';
--> statement-breakpoint
-- By indexes, and not compiled: a planner that does not know `since` would read the whole table.
CREATE OR REPLACE FUNCTION ferry.call_latency(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, operation text, calls integer, unanswered integer, p50 interval, p95 interval, p99 interval, longest interval
) LANGUAGE sql STABLE SET enable_seqscan = off SET jit = off AS $$
  SELECT c.account, c.operation, count(*)::integer, count(*) FILTER (WHERE c.http_status IS NULL)::integer,
    make_interval(secs => percentile_cont(0.5) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => percentile_cont(0.95) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => percentile_cont(0.99) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => max(e.seconds))
  FROM ferry_internal.limited_calls c
  CROSS JOIN LATERAL (
    SELECT CASE WHEN c.http_status IS NOT NULL THEN extract(epoch FROM c.finished - c.started)::double precision END AS seconds
  ) e
  WHERE c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY c.account, c.operation
  ORDER BY c.account, c.operation
$$;

COMMENT ON FUNCTION ferry.call_latency IS 'How long the platform took to answer: account, operation, calls, unanswered (without an HTTP status), and p50, p95, p99 and longest of the answered ones. Since: one day ago by default.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.calls_refused(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, operation text, error_code text, http_status integer, calls integer, first_at timestamptz, last_at timestamptz,
  request_ids text[]
) LANGUAGE sql STABLE AS $$
  SELECT c.account, c.operation, c.error_code, c.http_status, count(*)::integer, min(c.started), max(c.started),
    (array_agg(c.request_id ORDER BY c.started DESC) FILTER (WHERE c.request_id IS NOT NULL))[1:5]
  FROM ferry.platform_calls c
  WHERE c.error_code IS NOT NULL AND c.started >= coalesce($1, now() - interval '7 days')
  GROUP BY c.account, c.operation, c.error_code, c.http_status
  ORDER BY count(*) DESC, c.account, c.operation, c.error_code, c.http_status
$$;

COMMENT ON FUNCTION ferry.calls_refused IS 'Calls that the platform did not accept or answer, by code, the most frequent first: account, operation, error_code, http_status (null if there was no answer), calls, first_at, last_at, and the request_ids of the last five, for the platform''s support. Since: 7 days ago by default.';
--> statement-breakpoint
-- A version that began at the instant at which the one before it ended is a change. All others are few, and looked up.
CREATE OR REPLACE FUNCTION ferry.churn_by_folder(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), added integer, changed integer, removed integer, returned integer, changes integer,
  rules_now integer, first_read integer
) LANGUAGE sql STABLE
SET jit = off SET enable_mergejoin = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH alone AS MATERIALIZED (
    SELECT coalesce(b.account, e.account) AS account, coalesce(b.id, e.id) AS id, coalesce(b.at, e.at) AS at, b.folder_id,
      b.id IS NULL AS is_removed
    FROM (
      SELECT v.id, v.account, v.valid_from AS at, v.folder_id FROM ferry.alert_rule_versions v
      WHERE v.valid_from >= coalesce($1, now() - interval '7 days') AND v.valid_from < 'infinity'
        AND v.appeared IS DISTINCT FROM 'first reading'
    ) b
    FULL JOIN (
      SELECT v.id, v.account, v.valid_to AS at FROM ferry.alert_rule_versions v
      WHERE v.valid_to >= coalesce($1, now() - interval '7 days') AND v.valid_to < 'infinity'
    ) e ON e.id = b.id AND e.account = b.account AND e.at = b.at
    WHERE b.id IS NULL OR e.id IS NULL
  ), counted AS (
    SELECT v.account, v.folder_id, count(*) FILTER (WHERE v.appeared IS DISTINCT FROM 'first reading') AS began,
      count(*) FILTER (WHERE v.appeared = 'first reading') AS first_read, 0 AS added, 0 AS returned, 0 AS removed
    FROM ferry.alert_rule_versions v
    WHERE v.valid_from >= coalesce($1, now() - interval '7 days') AND v.valid_from < 'infinity'
    GROUP BY v.account, v.folder_id
    UNION ALL
    SELECT a.account, coalesce(a.folder_id, o.folder_id), 0, 0, count(*) FILTER (WHERE NOT a.is_removed AND o.id IS NULL),
      count(*) FILTER (WHERE NOT a.is_removed AND o.id IS NOT NULL), count(*) FILTER (WHERE a.is_removed)
    FROM alone a
    LEFT JOIN LATERAL (
      SELECT o.id, o.folder_id FROM ferry.alert_rule_versions o
      WHERE o.id = a.id AND o.account = a.account AND o.valid_from < a.at ORDER BY o.valid_from DESC LIMIT 1
    ) o ON true
    GROUP BY 1, 2
  ), summed AS (
    SELECT c.account, c.folder_id, sum(c.began) AS began, sum(c.first_read) AS first_read, sum(c.added) AS added, sum(c.returned) AS returned,
      sum(c.removed) AS removed
    FROM counted c GROUP BY c.account, c.folder_id
  ), present AS (
    SELECT v.account, v.folder_id, count(*) AS rules FROM ferry.alert_rule_versions v
    WHERE v.valid_to IS NULL GROUP BY v.account, v.folder_id
  )
  SELECT s.account, s.folder_id, s.added::int, (s.began - s.added - s.returned)::int, s.removed::int, s.returned::int,
    (s.began + s.removed)::int, coalesce(p.rules, 0)::int, s.first_read::int
  FROM summed s LEFT JOIN present p ON p.account = s.account AND p.folder_id = s.folder_id
  ORDER BY 7 DESC, s.account, s.folder_id
$$;

COMMENT ON FUNCTION ferry.churn_by_folder IS 'How many alert rules of each folder were added, changed, removed and returned since a time (null: seven days ago), as often as it was observed, the folder with the most changes first. rules_now: how many rules it has. first_read: how many a first reading found, which are no change. A rule that moved is a change of the folder it is in now.';
--> statement-breakpoint
-- As its owner, and without the rest of the scope, which has a hash of the key in it.
CREATE OR REPLACE VIEW ferry_internal.complete_runs AS
  SELECT r.id, r.account, r.resource AS inventory, r.scope -> 'folders' AS folders, r.started_at, r.finished_at,
    coalesce(r.applied_at, r.finished_at) AS applied_at,
    EXISTS (
      SELECT FROM ferry.sync_runs e
      WHERE e.account = r.account AND e.resource = r.resource AND e.scope -> 'folders' = r.scope -> 'folders'
        AND e.status IN ('succeeded', 'held') AND e.id < r.id AND e.scope = r.scope
    ) AS knows_absent
  FROM ferry.sync_runs r
  WHERE r.status IN ('succeeded', 'held');

COMMENT ON VIEW ferry_internal.complete_runs IS 'The runs that applied a complete listing, each with the folders that it listed.';
SELECT ferry_internal.describe_columns('ferry_internal.complete_runs', 'ferry.sync_runs');
COMMENT ON COLUMN ferry_internal.complete_runs.inventory IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry_internal.complete_runs.folders IS 'The folders that it listed, as JSON; 0 stands for all.';
COMMENT ON COLUMN ferry_internal.complete_runs.applied_at IS 'When what it read became visible.';
COMMENT ON COLUMN ferry_internal.complete_runs.knows_absent IS 'Whether a run before it had the same scope: else it removed nothing.';
--> statement-breakpoint
-- Of each run that is asked about, the complete readings before it: one for each set of folders that the account's runs list. One look
-- into the index for each, however long the last of them is ago.
CREATE OR REPLACE FUNCTION ferry_internal.covered_since(runs bigint[])
RETURNS TABLE (run_id bigint, folders jsonb, since timestamptz, absent_since timestamptz) LANGUAGE sql STABLE AS $$
  WITH RECURSIVE asked AS MATERIALIZED (
    SELECT r.id, r.account, r.resource AS inventory FROM ferry.sync_runs r WHERE r.id = ANY ($1)
  ), scopes AS (
    SELECT i.account, i.inventory, f.folders FROM (SELECT DISTINCT a.account, a.inventory FROM asked a) i
    CROSS JOIN LATERAL (
      SELECT c.folders FROM ferry_internal.complete_runs c WHERE c.account = i.account AND c.inventory = i.inventory
      ORDER BY c.folders LIMIT 1
    ) f
    UNION ALL
    SELECT s.account, s.inventory, n.folders FROM scopes s
    CROSS JOIN LATERAL (
      SELECT c.folders FROM ferry_internal.complete_runs c
      WHERE c.account = s.account AND c.inventory = s.inventory AND c.folders > s.folders ORDER BY c.folders LIMIT 1
    ) n
  )
  SELECT a.id, s.folders, l.since, k.since FROM asked a
  JOIN scopes s ON s.account = a.account AND s.inventory = a.inventory
  CROSS JOIN LATERAL (
    SELECT least(c.started_at, c.finished_at) AS since FROM ferry_internal.complete_runs c
    WHERE c.account = a.account AND c.inventory = a.inventory AND c.folders = s.folders AND c.id < a.id
    ORDER BY c.id DESC LIMIT 1
  ) l
  LEFT JOIN LATERAL (
    SELECT least(c.started_at, c.finished_at) AS since FROM ferry_internal.complete_runs c
    WHERE c.account = a.account AND c.inventory = a.inventory AND c.folders = s.folders AND c.id < a.id AND c.knows_absent
    ORDER BY c.id DESC LIMIT 1
  ) k ON true
$$;

COMMENT ON FUNCTION ferry_internal.covered_since IS 'When the last complete reading before each of these runs (sync_runs.id) began, for each set of folders that was listed: what a run observed happened after the reading that covers its folder; absent_since: the same for a removal, as the first reading of a scope removes nothing. For around.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry_internal.cron_field(p_field text, p_from integer, p_to integer) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_names text[] := CASE p_to WHEN 12 THEN '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'
    WHEN 7 THEN '{sun,mon,tue,wed,thu,fri,sat}' ELSE '{}' END;
  v_field text := lower(p_field);
  v_values integer[] := '{}';
  v_part text;
  v_match text[];
  v_first integer;
  v_last integer;
BEGIN
  FOR i IN 1 .. cardinality(v_names) LOOP
    v_field := replace(v_field, v_names[i], (p_from + i - 1)::text);
  END LOOP;
  FOREACH v_part IN ARRAY string_to_array(v_field, ',') LOOP
    v_match := regexp_match(v_part, '^(?:[*?]|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?$');
    IF v_match IS NULL OR v_match[3]::integer = 0 THEN
      RETURN NULL;
    END IF;
    v_first := coalesce(v_match[1]::integer, p_from);
    -- A single number with a step goes on to the end.
    v_last := coalesce(v_match[2]::integer, CASE WHEN v_match[1] IS NULL OR v_match[3] IS NOT NULL THEN p_to ELSE v_first END);
    IF v_first < p_from OR v_last > p_to OR v_first > v_last THEN
      RETURN NULL;
    END IF;
    v_values := v_values || ARRAY(SELECT generate_series(v_first, v_last, coalesce(v_match[3]::integer, 1)));
  END LOOP;
  -- Sunday is 0 and 7.
  RETURN ARRAY(SELECT DISTINCT CASE WHEN p_to = 7 THEN value % 7 ELSE value END AS value FROM unnest(v_values) AS value ORDER BY value);
END $$;

COMMENT ON FUNCTION ferry_internal.cron_field IS 'The values that one field of a cron pattern stands for, between the two bounds; null if it cannot be read. For ferry.cron_load.';
--> statement-breakpoint
-- The view rules_contract_breaks asks it, as whoever reads the view, of the rules of all accounts: it finds no names of the reader's own.
CREATE OR REPLACE FUNCTION ferry_internal.cron_unread(p_pattern text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_names text[] := '{minute,hour,day,month,weekday}';
  v_from integer[] := '{0,0,1,1,0}';
  v_to integer[] := '{59,23,31,12,7}';
  v_fields text[] := regexp_split_to_array(btrim(p_pattern), '\s+');
  v_unread text[] := '{}';
BEGIN
  IF octet_length(p_pattern) > 400 THEN
    v_unread := '{more than 400 bytes}';
  ELSIF cardinality(v_fields) <> 5 THEN
    v_unread := '{not 5 fields}';
  ELSE
    FOR i IN 1 .. 5 LOOP
      -- Most fields are a star, and a look into the field takes time.
      IF v_fields[i] <> '*' AND ferry_internal.cron_field(v_fields[i], v_from[i], v_to[i]) IS NULL THEN
        v_unread := v_unread || v_names[i];
      END IF;
    END LOOP;
  END IF;
  RETURN 'Ferry cannot read this pattern: ' || nullif(array_to_string(v_unread, ', '), '');
END $$;

COMMENT ON FUNCTION ferry_internal.cron_unread IS 'Why ferry.cron_load leaves out rules of this cron pattern: the fields that it cannot read; null if it can read all.';
--> statement-breakpoint
-- What is known of the begin and the end of an episode: decided here alone, by looks into the primary key of versions. (As EXISTS they
-- could be hashed: all versions read.) Without settings of its own, Postgres inlines it.
CREATE OR REPLACE FUNCTION ferry_internal.episodes(since timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), began timestamptz, ended timestamptz, began_seen boolean, was_cleared boolean
) LANGUAGE sql STABLE AS $$
  SELECT f.account, f.id, f.began, f.ended,
    coalesce((SELECT v.valid_from < f.began OR v.appeared IS NULL FROM ferry.alert_rule_versions v
      WHERE v.id = f.id AND v.account = f.account AND v.valid_from <= f.began ORDER BY v.valid_from DESC LIMIT 1), false),
    coalesce((SELECT v.valid_to > f.ended OR v.valid_to IS NULL AND f.ended IS NOT NULL FROM ferry.alert_rule_versions v
      WHERE v.id = f.id AND v.account = f.account AND v.valid_from <= f.ended ORDER BY v.valid_from DESC LIMIT 1), false)
  FROM (
    -- Two looks into indexes: an OR would read all episodes.
    SELECT e.account, e.id, e.began, e.ended FROM ferry.alert_rule_firings e WHERE e.ended > $1 AND e.ended < 'infinity'
    UNION ALL
    SELECT e.account, e.id, e.began, NULL FROM ferry.alert_rule_firings e WHERE e.ended IS NULL
  ) f
$$;

COMMENT ON FUNCTION ferry_internal.episodes IS 'The episodes of alert rules that fire, or ended after a time. began_seen: the rule was known before it began to fire, or was added then; else (a first reading found it firing, or it appeared so) nobody knows since when it fired. was_cleared: it ended, and the rule was still there; else the rule was removed while it fired, or it fires. For the reports.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.import_funnel AS
  SELECT i.id AS import, i.account, i.page_id, i.method, i.status, i.created_at, i.read,
    i.rejected - i.rejected_by_platform AS rejected_by_check, i.duplicate, i.suppressed, i.already_imported,
    i.recipients + i.rejected_by_platform AS to_send, i.rejected_by_platform, i.sent, i.uncertain,
    i.recipients - i.sent - i.uncertain AS pending,
    i.read - (i.recipients + i.rejected + i.duplicate + i.suppressed + i.already_imported) AS missing
  FROM ferry.imports i
  ORDER BY i.id DESC;

COMMENT ON VIEW ferry.import_funnel IS 'The rows of each import by result, newest import first: read = rejected_by_check + duplicate + suppressed + already_imported + to_send, and to_send = rejected_by_platform + sent + uncertain + pending.';
SELECT ferry_internal.describe_columns('ferry.import_funnel', 'ferry.imports');
COMMENT ON COLUMN ferry.import_funnel.import IS 'The import (imports.id).';
COMMENT ON COLUMN ferry.import_funnel.rejected_by_check IS 'Rows that failed the check of the file.';
COMMENT ON COLUMN ferry.import_funnel.to_send IS 'Rows that passed all checks: sent, or waiting to be sent.';
COMMENT ON COLUMN ferry.import_funnel.pending IS 'Rows still waiting to be sent.';
COMMENT ON COLUMN ferry.import_funnel.missing IS 'Rows that are unaccounted for: always 0.';
--> statement-breakpoint
-- A batch that a person says was sent has no answer, or the error of the last one: the platform accepted nothing.
CREATE OR REPLACE FUNCTION ferry.import_throughput(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, calls integer, rows integer, allowed integer, share double precision
) LANGUAGE sql STABLE SET enable_seqscan = off SET jit = off AS $$
  SELECT date_trunc('minute', c.started), c.account, count(*)::integer,
    coalesce(sum(b.rows) FILTER (
      WHERE b.state = 'sent' AND b.call_id = c.id AND b.http_status IS NOT NULL AND b.error_code IS NULL), 0)::integer,
    max(c.calls_per_minute), count(*)::double precision / max(c.calls_per_minute)
  FROM ferry_internal.limited_calls c
  LEFT JOIN ferry.import_batches b ON b.id = c.batch_id
  WHERE c.operation = 'import-subscribers'
    AND c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY date_trunc('minute', c.started), c.account
  ORDER BY date_trunc('minute', c.started) DESC, c.account
$$;

COMMENT ON FUNCTION ferry.import_throughput IS 'How fast imports are sent, minute by minute, the latest first: minute, account, calls, rows that the platform accepted with them, allowed (calls in a minute, by the settings of the last worker; accounts of one limitGroup share them), and share of them. Minutes without a call have no row. Since: one day ago by default.';
--> statement-breakpoint
-- One look into the index for each account and inventory, however many runs there are.
CREATE OR REPLACE VIEW ferry.inventories AS
  WITH RECURSIVE synced AS (
    (SELECT account, resource FROM ferry.sync_runs ORDER BY account, resource LIMIT 1)
    UNION ALL
    SELECT n.account, n.resource FROM synced s CROSS JOIN LATERAL (
      SELECT r.account, r.resource FROM ferry.sync_runs r WHERE (r.account, r.resource) > (s.account, s.resource)
      ORDER BY r.account, r.resource LIMIT 1
    ) n
  )
  SELECT account, resource AS inventory FROM synced
  UNION
  SELECT account, resource FROM ferry.freshness_targets;

COMMENT ON VIEW ferry.inventories IS 'Each inventory of each account that was ever synced, or that a worker is configured to sync.';
COMMENT ON COLUMN ferry.inventories.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.inventories.inventory IS 'alert-rules or mcp-servers.';
--> statement-breakpoint
-- Goes by the limits, so that the index on their calls is used.
-- By indexes, and not compiled: a planner that does not know `since` would read the whole table.
CREATE OR REPLACE FUNCTION ferry.limit_use(since timestamptz DEFAULT NULL, of_account text DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, operation text, calls integer, allowed integer, share double precision, refused integer
) LANGUAGE sql STABLE SET enable_seqscan = off SET jit = off AS $$
  -- By account first: calls are many, accounts that share a limit are few.
  WITH counted AS (
    SELECT date_trunc('minute', c.started) AS minute, c.limit_id, c.operation, c.account, max(c.calls_per_minute) AS allowed,
      count(*) AS calls, count(*) FILTER (WHERE c.http_status = 429) AS refused
    FROM ferry_internal.limited_calls c
    WHERE c.counted_by >= coalesce($1, now() - interval '1 hour') AND c.started >= coalesce($1, now() - interval '1 hour')
      AND ($2 IS NULL OR c.account = $2)
    GROUP BY 1, 2, 3, 4
  )
  SELECT n.minute, string_agg(n.account, ', ' ORDER BY n.account), n.operation, sum(n.calls)::integer, max(n.allowed),
    sum(n.calls)::double precision / max(n.allowed), sum(n.refused)::integer
  FROM counted n
  GROUP BY n.minute, n.limit_id, n.operation
  ORDER BY n.minute DESC, n.operation, 2
$$;

COMMENT ON FUNCTION ferry.limit_use IS 'How much of each limit was used, minute by minute, the latest first: minute, account (several, if they share the limit), operation, calls that began in it, allowed (calls in a minute, by the settings of the last worker), share of them, and refused (answered 429). Minutes without a call have no row. Since: one hour ago by default. If an account is named: its own calls alone, of a limit that it may share.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.mcp_by_team AS
  SELECT s.account, s.team_id, count(*)::int AS servers, (count(*) FILTER (WHERE s.status = 'enabled'))::int AS enabled,
    sum(jsonb_array_length(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END))::int AS tools,
    (count(*) FILTER (WHERE s.auth_mode = 'shared'))::int AS shared, max(s.valid_from) AS last_change
  FROM ferry.mcp_server_versions s
  WHERE s.valid_to IS NULL
  GROUP BY s.account, s.team_id
  ORDER BY servers DESC, s.account, s.team_id;

COMMENT ON VIEW ferry.mcp_by_team IS 'The current MCP servers by the team that owns them, the team with the most first; 0 stands for servers of the whole account.';
SELECT ferry_internal.describe_columns('ferry.mcp_by_team', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_by_team.servers IS 'How many servers the team has.';
COMMENT ON COLUMN ferry.mcp_by_team.enabled IS 'How many of them have the status enabled.';
COMMENT ON COLUMN ferry.mcp_by_team.tools IS 'How many tools are recorded for them.';
COMMENT ON COLUMN ferry.mcp_by_team.shared IS 'How many have the auth_mode shared.';
COMMENT ON COLUMN ferry.mcp_by_team.last_change IS 'When one of them was last seen to be added or changed.';
--> statement-breakpoint
-- Verbs are words of a tool's name: delete_branch, deleteBranch and branch-delete, but not undeleted; the first one counts. They
-- are looked up once for each name. Invisible characters are those that show nothing, or turn the direction of text: they can
-- hide instructions for a model from people. Of a name of 60,000 characters only the beginning is split into words.
CREATE OR REPLACE VIEW ferry.mcp_risk AS
  WITH servers AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY s.account, s.server_name, s.server_id) AS place,
      s.account, s.server_id, s.server_name, s.team_id, s.description, s.url, s.status, s.auth_mode, s.tool_count, s.tools
    FROM ferry.mcp_server_versions s WHERE s.valid_to IS NULL
  ), tools AS MATERIALIZED (
    SELECT s.place, t.tool ->> 'name' AS name, t.tool ->> 'description' AS description
    FROM servers s
    CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END) AS t (tool)
    -- Postgres expects 100 elements of any array: without this it would compile the whole (JIT), which takes a second.
    WHERE jsonb_typeof(t.tool) = 'object'
  ), verbs (verb, deletes) AS (
    SELECT unnest('{delete,remove,drop,destroy,purge,truncate,kill,terminate,revoke}'::text[]), true
    UNION ALL
    SELECT unnest('{create,add,insert,update,upsert,write,set,put,post,patch,edit,modify,rename,move,send,publish,execute,exec,deploy,apply,merge,push,upload,restart,scale,rollback,enable,disable,grant,close,cancel}'::text[]), false
  ), named AS MATERIALIZED (
    SELECT DISTINCT ON (n.name) n.name, v.verb, v.deletes
    FROM (SELECT DISTINCT name FROM tools) n
    CROSS JOIN LATERAL regexp_split_to_table(lower(regexp_replace(left(n.name, 1000), '([a-z0-9])([A-Z])', '\1_\2', 'g')), '[^a-z]+')
      WITH ORDINALITY AS w (word, nth)
    JOIN verbs v ON v.verb = w.word
    ORDER BY n.name, w.nth
  ), reasons (reason, severity) AS (
    -- High: somebody else reads, steers or destroys. Medium: a model changes something, or takes the wrong tool. Low: to be cleaned up.
    VALUES ('invisible characters', 'high'), ('no https', 'high'), ('tool deletes', 'high'),
      ('tool writes', 'medium'), ('tool count differs', 'medium'), ('name used twice', 'medium'), ('tool name used twice', 'medium'),
      ('shared credentials', 'low'), ('disabled but listed', 'low')
  ), found AS (
    SELECT place, 'no https' AS reason, NULL AS tool, url AS detail FROM servers WHERE url <> '' AND url !~* '^https://'
    UNION ALL
    SELECT place, 'shared credentials', NULL, 'auth_mode ' || auth_mode FROM servers WHERE auth_mode = 'shared'
    UNION ALL
    SELECT place, 'disabled but listed', NULL, 'status ' || status FROM servers WHERE status = 'disabled'
    UNION ALL
    SELECT s.place, 'tool count differs', NULL, 'tool_count ' || s.tool_count || ', tools ' || n.tools
    FROM servers s CROSS JOIN LATERAL (SELECT CASE jsonb_typeof(s.tools) WHEN 'array' THEN jsonb_array_length(s.tools) END AS tools) n
    WHERE s.tool_count <> n.tools
    UNION ALL
    SELECT s.place, 'name used twice', NULL, n.servers || ' servers'
    FROM servers s
    JOIN (SELECT account, server_name, count(*) AS servers FROM servers GROUP BY account, server_name HAVING count(*) > 1) n USING (account, server_name)
    UNION ALL
    SELECT place, 'tool name used twice', name, n.tools || ' tools'
    FROM tools
    JOIN (SELECT place, name, count(*) AS tools FROM tools GROUP BY place, name HAVING count(*) > 1) n USING (place, name)
    UNION ALL
    SELECT place, CASE WHEN v.deletes THEN 'tool deletes' ELSE 'tool writes' END, name, v.verb
    FROM tools JOIN named v USING (name)
    UNION ALL
    SELECT place, 'invisible characters', tool, 'U+' || upper(lpad(hex, greatest(4, length(hex)), '0'))
    FROM (
      SELECT place, NULL AS tool, server_name AS name, description FROM servers
      UNION ALL
      SELECT place, name, name, description FROM tools
    ) texts
    CROSS JOIN LATERAL (
      -- Most texts are ASCII: their length in bytes says so much faster.
      SELECT CASE WHEN octet_length(name) <> length(name) OR octet_length(description) <> length(description) THEN
        substring(concat_ws(' ', name, description) FROM
          '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF9-\uFFFB\U000E0000-\U000E0FFF]'
        ) END AS hidden
    ) h
    CROSS JOIN LATERAL (SELECT to_hex(ascii(hidden)) AS hex) x
    WHERE hidden IS NOT NULL
  )
  SELECT s.account, s.server_id, s.server_name, s.team_id, r.severity, f.reason, f.tool, f.detail, s.auth_mode
  FROM found f JOIN servers s USING (place) JOIN reasons r USING (reason)
  ORDER BY array_position('{high,medium,low}', r.severity), f.place, f.reason, f.tool;

COMMENT ON VIEW ferry.mcp_risk IS 'Possible risks in the current MCP servers: one row for each server, reason and tool, the gravest first.';
SELECT ferry_internal.describe_columns('ferry.mcp_risk', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_risk.severity IS 'high: invisible characters, no https, tool deletes; medium: tool writes, tool count differs, name used twice, tool name used twice; low: shared credentials, disabled but listed.';
COMMENT ON COLUMN ferry.mcp_risk.reason IS 'no https; shared credentials; disabled but listed; tool count differs (the platform counts more or fewer tools than it lists); name used twice (by servers of the account); tool name used twice (in one server); tool writes or tool deletes (by a verb in its name); invisible characters (in a name or description, such as zero-width or bidirectional ones).';
COMMENT ON COLUMN ferry.mcp_risk.tool IS 'The tool, if the reason concerns one.';
COMMENT ON COLUMN ferry.mcp_risk.detail IS 'What was found: the address, the verb, the character, both counts.';
--> statement-breakpoint
-- Each version of a server is compared with the one before it, also if the server was gone in between. Tools that both have
-- are left out, each as often as both have it; of the others, the first of a name is compared with the first. Tools without
-- a name are compared as if they had one that no other tool has.
CREATE OR REPLACE FUNCTION ferry.mcp_tool_changes(since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, observed_at timestamptz, server_id text, server_name text, change text, tool text, before text, after text
) LANGUAGE sql STABLE SET jit = off AS $$
  SELECT v.account, v.valid_from, v.server_id, v.server_name, t.change, t.tool, t.before, t.after
  FROM ferry.mcp_server_versions v
  CROSS JOIN LATERAL (
    SELECT p.tools FROM ferry.mcp_server_versions p
    WHERE p.server_id = v.server_id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p
  CROSS JOIN LATERAL (
    SELECT CASE WHEN bool_and(d.more > 0) THEN 'added' WHEN bool_and(d.more < 0) THEN 'removed' ELSE 'description changed' END AS change,
      d.name AS tool, max(d.description) FILTER (WHERE d.more < 0) AS before, max(d.description) FILTER (WHERE d.more > 0) AS after
    FROM (
      SELECT c.name, c.description, c.more, row_number() OVER (PARTITION BY c.name, c.more > 0 ORDER BY c.description) AS nth
      FROM (
        SELECT x.tool ->> 'name', x.tool ->> 'description', sum(s.sign)::int
        FROM (VALUES (-1, p.tools), (1, v.tools)) s (sign, tools) CROSS JOIN LATERAL jsonb_array_elements(s.tools) x (tool)
        GROUP BY 1, 2 HAVING sum(s.sign) <> 0
      ) c (name, description, more)
      CROSS JOIN LATERAL generate_series(1, abs(c.more))
    ) d
    GROUP BY d.name, d.nth
  ) t
  WHERE v.valid_from >= coalesce($1, now() - interval '7 days') AND v.valid_from <= coalesce($2, 'infinity')
    AND v.tools IS DISTINCT FROM p.tools
  ORDER BY v.valid_from DESC, v.account, v.server_id, t.tool, t.before, t.after
$$;

COMMENT ON FUNCTION ferry.mcp_tool_changes IS 'Tools that a known MCP server gained, lost or changed the description of since a time (null: seven days ago) and up to one (null: now), the newest first. before and after are the descriptions. Servers that were added or removed are in mcp_server_changes.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.mcp_tools AS
  SELECT t.account, t.name AS tool, t.server_id, t.server_name, s.team_id, s.status, t.description,
    (count(*) OVER same_name)::int AS servers
  FROM ferry.mcp_server_tools t
  JOIN ferry.mcp_server_versions s ON s.server_id = t.server_id AND s.account = t.account AND s.valid_to IS NULL
  WINDOW same_name AS (PARTITION BY t.account, t.name)
  ORDER BY t.account, t.name, t.server_name, t.server_id, t.position;

COMMENT ON VIEW ferry.mcp_tools IS 'The recorded tools of the current MCP servers by their name: one row for each tool of each server.';
SELECT ferry_internal.describe_columns('ferry.mcp_tools', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_tools.tool IS 'The tool''s name.';
COMMENT ON COLUMN ferry.mcp_tools.description IS 'What the tool does, according to this server.';
COMMENT ON COLUMN ferry.mcp_tools.servers IS 'How many tools of the account have this name.';
--> statement-breakpoint
-- In the order of ids, in which it finds the rules in two indexes alone and stops early. A hash of all episodes would take
-- three times as long. A rule is observed while it is there and enabled, from the start of the history on: episodes that ended
-- before were removed.
CREATE OR REPLACE FUNCTION ferry_internal.never_fired(
  at_most integer, of_account text, of_folder numeric(20, 0), after_id numeric(20, 0), after_account text
) RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, first_seen timestamptz,
  days_observed double precision, updater_name text
) LANGUAGE sql STABLE SET jit = off SET enable_hashjoin = off SET enable_seqscan = off AS $$
  SELECT v.account, v.id, v.name, v.folder_id, v.team, b.valid_from,
    (extract(epoch FROM b.observed) / 86400)::float8, v.updater_name
  FROM (
    SELECT c.id, c.account FROM ferry.alert_rule_versions c
    WHERE c.valid_to IS NULL AND c.enabled AND ($2 IS NULL OR c.account = $2) AND ($3 IS NULL OR c.folder_id = $3)
      AND (c.id, c.account) > (coalesce($4, -1), coalesce($5, ''))
      AND NOT EXISTS (SELECT FROM ferry.alert_rule_firings f WHERE f.id = c.id AND f.account = c.account)
    ORDER BY c.id, c.account LIMIT $1
  ) s
  CROSS JOIN (SELECT ferry.history_start() AS starts_at) h
  JOIN ferry.alert_rule_versions v ON v.id = s.id AND v.account = s.account AND v.valid_to IS NULL
  CROSS JOIN LATERAL (
    SELECT min(b.valid_from) AS valid_from, coalesce(
      sum(coalesce(b.valid_to, clock_timestamp()) - greatest(b.valid_from, h.starts_at))
        FILTER (WHERE b.enabled AND coalesce(b.valid_to, clock_timestamp()) > h.starts_at), interval '0') AS observed
    FROM ferry.alert_rule_versions b WHERE b.id = s.id AND b.account = s.account
  ) b
  ORDER BY v.id, v.account
$$;

COMMENT ON FUNCTION ferry_internal.never_fired IS 'The enabled alert rules that were never seen firing, by id: at most this many (null: all) after a rule (null: from the first on), of one account and folder if they are named. For the report rules_never_fired and its page.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.nights(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, night date, status text, snapshot bigint, taken_at timestamptz, alert_rules_run bigint, mcp_servers_run bigint
) LANGUAGE sql STABLE AS $$
  WITH taken AS (
    SELECT s.account, s.id, s.status, s.taken_at, s.alert_rules_run, s.mcp_servers_run, s.slot, t.timezone, t.every_night, p.weekdays,
      p.account IS NOT NULL AS has_target,
      coalesce(s.slot, s.taken_at) AS at, (coalesce(s.slot, s.taken_at) AT TIME ZONE t.timezone)::date AS night,
      -- The interval of the nightly schedule, without its hour of grace.
      greatest(round(extract(epoch FROM t.every_night - interval '1 hour') / 86400), 1)::integer AS every
    FROM ferry.snapshots s
    LEFT JOIN ferry.freshness_targets p ON p.account = s.account AND p.resource = 'mcp-servers'
    CROSS JOIN LATERAL (
      SELECT coalesce(p.timezone, 'UTC') AS timezone, coalesce(p.night, interval '25 hours') AS every_night
    ) t
    -- The last one before them may begin a gap, however long ago it was.
    JOIN (
      SELECT b.account, max(b.taken_at) FILTER (WHERE b.taken_at < coalesce($1, now() - interval '30 days') - interval '1 day') AS before
      FROM ferry.snapshots b GROUP BY b.account
    ) l ON l.account = s.account
    WHERE s.taken_at >= coalesce(l.before, '-infinity')
  ), found AS (
    -- Of several snapshots of a night, the one of the schedule, else the last.
    SELECT DISTINCT ON (t.account, t.night) t.* FROM taken t ORDER BY t.account, t.night, t.slot IS NULL, t.id DESC
  ), missed AS (
    SELECT f.account, f.night + n AS night, f.timezone
    FROM (
      SELECT o.*, lead(o.night) OVER (PARTITION BY o.account ORDER BY o.night) AS next_night FROM found o
    ) f
    CROSS JOIN LATERAL generate_series(1, coalesce(
      f.next_night - f.night - 1,
      -- Tonight counts as missed an hour after its time.
      floor(extract(epoch FROM now() - f.at - greatest(f.every_night - f.every * interval '1 day', interval '1 hour')) / 86400)::integer)) n
    -- An account without a freshness target has missed nothing lately.
    WHERE (f.next_night IS NOT NULL OR f.has_target OR f.at > now() - interval '30 days')
      AND CASE WHEN f.weekdays IS NULL THEN n % f.every = 0 ELSE extract(isodow FROM f.night + n) = ANY (f.weekdays) END
  )
  SELECT n.account, n.night, n.status, n.id, n.taken_at, n.alert_rules_run, n.mcp_servers_run
  FROM (
    SELECT f.account, f.night, f.status, f.id, f.taken_at, f.alert_rules_run, f.mcp_servers_run, f.timezone FROM found f
    UNION ALL
    SELECT m.account, m.night, 'missed', NULL, NULL, NULL, NULL, m.timezone FROM missed m
  ) n
  WHERE n.night >= (coalesce($1, now() - interval '30 days') AT TIME ZONE n.timezone)::date
  ORDER BY n.night DESC, n.account
$$;

COMMENT ON FUNCTION ferry.nights IS 'Each night since the first snapshot: account, night (the date in FERRY_TIMEZONE), status (succeeded, held, partial, or missed: no snapshot; where the schedule is uneven, but not by days of the week, missed nights are guessed by its longest interval), snapshot (snapshots.id), taken_at, and its two runs. Since: 30 days ago by default.';
--> statement-breakpoint
-- Neighbours among the complete readings of each inventory, as blind_spots pairs them. A run may start before a moment and end after it,
-- so it begins with the second-last run before `a`.
-- Without a freshness target, it is that of a worker with the default settings, for the folders that were read last.
CREATE OR REPLACE FUNCTION ferry_internal.readings_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, inventory text, since_run bigint, since timestamptz, since_applied timestamptz, run_id bigint, applied_at timestamptz,
  is_blind boolean
) LANGUAGE sql STABLE AS $$
  SELECT s.account, s.inventory, s.since_run, s.since, s.since_applied, s.run_id, s.applied_at,
    s.since IS NULL OR coalesce(s.applied_at, now()) - s.since > s.target
  FROM (
    SELECT i.account, i.inventory, i.target, f.id AS edge_run, c.id AS run_id, c.applied_at, lag(c.id) OVER w AS since_run,
      lag(c.started_at) OVER w AS since, lag(c.applied_at) OVER w AS since_applied
    FROM (
      SELECT n.account, n.inventory, coalesce(p.target, '3 minutes') AS target, coalesce(p.folders, (
          SELECT c.folders FROM ferry_internal.complete_runs c WHERE c.account = n.account AND c.inventory = n.inventory
          ORDER BY c.id DESC LIMIT 1)) AS folders
      FROM ferry.inventories n
      LEFT JOIN ferry.freshness_targets p ON p.account = n.account AND p.resource = n.inventory
      OFFSET 0
    ) i
    CROSS JOIN (
      SELECT coalesce((SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= $1 ORDER BY r.started_at LIMIT 1),
          9223372036854775807) AS first_run,
        coalesce((SELECT r.id FROM ferry.sync_runs r WHERE r.started_at > $2 ORDER BY r.started_at LIMIT 1),
          9223372036854775807) AS next_run
    ) t
    LEFT JOIN LATERAL (
      SELECT e.id FROM (
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders = i.folders AND c.id < t.first_run
         ORDER BY c.id DESC LIMIT 2)
        UNION
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders = '["0"]' AND c.id < t.first_run
         ORDER BY c.id DESC LIMIT 2)
      ) e ORDER BY e.id DESC OFFSET 1 LIMIT 1
    ) f ON true
    LEFT JOIN LATERAL (
      SELECT e.id FROM (
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders = i.folders AND c.id >= t.next_run
         ORDER BY c.id LIMIT 1)
        UNION ALL
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders = '["0"]' AND c.id >= t.next_run
         ORDER BY c.id LIMIT 1)
      ) e ORDER BY e.id LIMIT 1
    ) l ON true
    CROSS JOIN LATERAL (
      SELECT c.id, least(c.started_at, c.finished_at) AS started_at, c.applied_at FROM ferry_internal.complete_runs c
      WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders IN (i.folders, '["0"]')
        AND c.id BETWEEN coalesce(f.id, 0) AND coalesce(l.id, 9223372036854775807)
      -- What was not read yet.
      UNION ALL SELECT NULL, NULL, NULL WHERE l.id IS NULL
    ) c
    WINDOW w AS (PARTITION BY i.account, i.inventory ORDER BY c.id)
  ) s
  WHERE coalesce(s.applied_at, 'infinity') >= $1 AND coalesce(s.since, '-infinity') <= $2
    AND (s.run_id = s.edge_run) IS NOT TRUE
$$;

COMMENT ON FUNCTION ferry_internal.readings_between IS 'The complete readings of each inventory from one instant to another, each with the one before it: since_run began at since and was applied at since_applied; run_id was applied at applied_at, or is null if nothing complete was read after it. since is null if nothing complete was read before. is_blind: from one to the other it took longer than the freshness target. For around and firing_at.';
--> statement-breakpoint
-- Counts only. A barrier, so that no function in a condition of the reader sees a row before it is counted.
CREATE OR REPLACE VIEW ferry.rejects_by_reason WITH (security_barrier = true) AS
  SELECT i.id AS import, i.account, i.page_id, i.created_at, r.origin AS rejected_by, r.reason, r.rows
  FROM (
    SELECT import_id, origin, reason, count(*)::integer AS rows FROM ferry.import_rejects GROUP BY import_id, origin, reason
  ) r
  JOIN ferry.imports i ON i.id = r.import_id
  ORDER BY i.id DESC, r.rows DESC, r.origin, r.reason;

COMMENT ON VIEW ferry.rejects_by_reason IS 'Rejected rows of each import by reason, newest import first. Counts only.';
COMMENT ON COLUMN ferry.rejects_by_reason.import IS 'The import (imports.id).';
COMMENT ON COLUMN ferry.rejects_by_reason.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.rejects_by_reason.page_id IS 'The status page.';
COMMENT ON COLUMN ferry.rejects_by_reason.created_at IS 'When the import began.';
COMMENT ON COLUMN ferry.rejects_by_reason.rejected_by IS 'file: by the check of the file; platform: by the platform.';
COMMENT ON COLUMN ferry.rejects_by_reason.reason IS 'Why, as a code.';
COMMENT ON COLUMN ferry.rejects_by_reason.rows IS 'How many rows.';
--> statement-breakpoint
-- STABLE, so that in WHERE it is asked once, before any row is read and also if there are none; and so that it judges what
-- the query sees, not what was written since.
CREATE OR REPLACE FUNCTION ferry.require_fresh(inventory text, max_age interval, account text DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
#variable_conflict use_column
DECLARE
  v_oldest record;
BEGIN
  IF $1 IS NULL OR $1 NOT IN ('alert-rules', 'mcp-servers') THEN
    RAISE EXCEPTION 'Unknown inventory %; the inventories are alert-rules and mcp-servers.', coalesce(quote_literal($1), 'null')
      USING ERRCODE = 'invalid_parameter_value';
  ELSIF $2 IS NULL OR $2 < interval '0' THEN
    RAISE EXCEPTION 'require_fresh needs to know how old the data may be, such as ''5 minutes''.'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT f.account, f.last_complete_at, f.age INTO v_oldest FROM ferry.freshness f
    WHERE f.inventory = $1 AND f.account = coalesce($3, f.account)
    ORDER BY f.age < interval '0' DESC NULLS FIRST, f.age DESC LIMIT 1;
  IF NOT FOUND OR v_oldest.age IS NULL THEN
    RAISE EXCEPTION 'The % of % were never read completely.', $1,
      coalesce('account ' || quote_literal(coalesce(v_oldest.account, $3)), 'every account')
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = '`ferry freshness` says why.';
  ELSIF v_oldest.age < interval '0' THEN
    RAISE EXCEPTION 'The % of account % were last read completely at %, which is % in the future: the clock was set back.', $1,
      quote_literal(v_oldest.account), date_trunc('second', v_oldest.last_complete_at),
      date_trunc('second', -v_oldest.age)
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'The next complete run ends this.';
  ELSIF v_oldest.age > $2 THEN
    RAISE EXCEPTION 'The % of account % are too old: they were last read completely at % (% ago), and may be % old.', $1,
      quote_literal(v_oldest.account), date_trunc('second', v_oldest.last_complete_at),
      date_trunc('second', v_oldest.age), $2
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = '`ferry freshness` says why.';
  END IF;
  RETURN true;
END $$;

COMMENT ON FUNCTION ferry.require_fresh IS 'Returns true if the last complete listing of the inventory (alert-rules or mcp-servers) is not older than max_age, for one account or, without one, for each. Else it raises an error that says how old it is. Use it in WHERE: there it is asked once, before any row is read.';
--> statement-breakpoint
-- A version is an edit if the one before it ended at the same instant: else the rule was added, or returned. Many edits share
-- an instant, so the callers forbid to merge by it. Without settings of its own, Postgres inlines it.
CREATE OR REPLACE FUNCTION ferry_internal.rule_edits(since timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), folder_id numeric(20, 0), updater_id numeric(20, 0), edited_at timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.id, v.folder_id, v.updater_id, v.valid_from
  FROM ferry.alert_rule_versions v
  JOIN ferry.alert_rule_versions p ON p.id = v.id AND p.account = v.account AND p.valid_to = v.valid_from
  WHERE v.valid_from >= $1 AND v.valid_from < 'infinity' AND p.valid_to >= $1 AND p.valid_to < 'infinity'
$$;

COMMENT ON FUNCTION ferry_internal.rule_edits IS 'Who edited which alert rule since a time: one row for each change that was observed, without additions and returns. For the reports.';
--> statement-breakpoint
-- The index of current rules alone has what is counted here.
CREATE OR REPLACE VIEW ferry.rules_by_folder AS
  SELECT v.account, v.folder_id, count(*)::int AS rules, (count(*) FILTER (WHERE v.enabled))::int AS enabled,
    (count(*) FILTER (WHERE NOT v.enabled))::int AS disabled, count(f.id)::int AS firing,
    (count(*) FILTER (WHERE v.debug_log_enabled))::int AS debug_log_enabled,
    (count(*) FILTER (WHERE v.team IS NULL))::int AS unowned
  FROM ferry.alert_rule_versions v
  LEFT JOIN ferry.alert_rule_firings f ON f.id = v.id AND f.account = v.account AND f.ended IS NULL
  WHERE v.valid_to IS NULL
  GROUP BY v.account, v.folder_id
  ORDER BY rules DESC, account, folder_id;

COMMENT ON VIEW ferry.rules_by_folder IS 'The current alert rules by folder, the largest folder first.';
SELECT ferry_internal.describe_columns('ferry.rules_by_folder', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_by_folder.rules IS 'How many rules are in the folder.';
COMMENT ON COLUMN ferry.rules_by_folder.enabled IS 'How many of them are enabled.';
COMMENT ON COLUMN ferry.rules_by_folder.disabled IS 'How many are disabled.';
COMMENT ON COLUMN ferry.rules_by_folder.firing IS 'How many are firing.';
COMMENT ON COLUMN ferry.rules_by_folder.debug_log_enabled IS 'How many have debug logging on.';
COMMENT ON COLUMN ferry.rules_by_folder.unowned IS 'How many have no team in their labels.';
--> statement-breakpoint
-- The index of current rules alone has what is counted here.
CREATE OR REPLACE VIEW ferry.rules_by_team AS
  SELECT c.account, c.team, sum(c.rules)::int AS rules, sum(c.enabled)::int AS enabled,
    (sum(c.rules) - sum(c.enabled))::int AS disabled, sum(c.firing)::int AS firing,
    sum(c.debug_log_enabled)::int AS debug_log_enabled, count(*)::int AS folders
  FROM (
    SELECT v.account, v.team, v.folder_id, count(*) AS rules, count(*) FILTER (WHERE v.enabled) AS enabled,
      count(f.id) AS firing, count(*) FILTER (WHERE v.debug_log_enabled) AS debug_log_enabled
    FROM ferry.alert_rule_versions v
    LEFT JOIN ferry.alert_rule_firings f ON f.id = v.id AND f.account = v.account AND f.ended IS NULL
    WHERE v.valid_to IS NULL
    GROUP BY v.account, v.team, v.folder_id
  ) c
  GROUP BY c.account, c.team
  ORDER BY rules DESC, account, team;

COMMENT ON VIEW ferry.rules_by_team IS 'The current alert rules by the team in their labels, the team with the most rules first; rules without one are under null.';
SELECT ferry_internal.describe_columns('ferry.rules_by_team', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_by_team.rules IS 'How many rules the team has.';
COMMENT ON COLUMN ferry.rules_by_team.enabled IS 'How many of them are enabled.';
COMMENT ON COLUMN ferry.rules_by_team.disabled IS 'How many are disabled.';
COMMENT ON COLUMN ferry.rules_by_team.firing IS 'How many are firing.';
COMMENT ON COLUMN ferry.rules_by_team.debug_log_enabled IS 'How many have debug logging on.';
COMMENT ON COLUMN ferry.rules_by_team.folders IS 'In how many folders they are.';
--> statement-breakpoint
-- Few patterns of enabled rules differ, and each is looked at once.
CREATE OR REPLACE VIEW ferry.rules_contract_breaks AS
  WITH unread AS MATERIALIZED (
    SELECT p.cron_pattern, ferry_internal.cron_unread(p.cron_pattern) AS reason
    FROM (SELECT DISTINCT v.cron_pattern FROM ferry.alert_rule_versions v WHERE v.valid_to IS NULL AND v.enabled) p
  )
  SELECT v.account, b.reason, v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM ferry.alert_rule_versions v CROSS JOIN LATERAL unnest(v.flags) AS b (reason)
  WHERE v.valid_to IS NULL AND v.flags IS NOT NULL
  UNION ALL
  SELECT v.account, u.reason, v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM unread u JOIN ferry.alert_rule_versions v ON v.cron_pattern = u.cron_pattern
  WHERE u.reason IS NOT NULL AND v.valid_to IS NULL AND v.enabled
    AND NOT coalesce(v.flags && '{cron_pattern names a time zone,cron_pattern does not have 5 fields}', false)
  ORDER BY account, reason, folder_id, name, id;

COMMENT ON VIEW ferry.rules_contract_breaks IS 'The current alert rules that break what the platform requires of cron_pattern and timezone, and the enabled ones whose cron_pattern Ferry cannot read, so that cron_load leaves them out: one row for each rule and reason.';
SELECT ferry_internal.describe_columns('ferry.rules_contract_breaks', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_contract_breaks.reason IS 'What it breaks; or that Ferry cannot read its pattern, which may be right for the platform.';
--> statement-breakpoint
-- Debug logging is on since the last version without it ended, or since the rule was first seen.
CREATE OR REPLACE VIEW ferry.rules_debug_left_on AS
  SELECT v.account, v.id, v.name, v.folder_id, v.team, v.enabled, s.valid_from AS since, clock_timestamp() - s.valid_from AS on_for,
    CASE WHEN o.valid_to IS NOT NULL THEN true WHEN s.valid_from >= (SELECT ferry.history_start()) THEN false END AS switch_seen, s.updater_id, s.updater_name
  FROM ferry.alert_rule_versions c
  JOIN ferry.alert_rule_versions v ON v.id = c.id AND v.account = c.account AND v.valid_to IS NULL
  LEFT JOIN LATERAL (
    SELECT o.valid_to FROM ferry.alert_rule_versions o
    WHERE o.id = v.id AND o.account = v.account AND o.valid_from < v.valid_from AND NOT o.debug_log_enabled
    ORDER BY o.valid_from DESC LIMIT 1
  ) o ON true
  CROSS JOIN LATERAL (
    SELECT s.valid_from, s.updater_id, s.updater_name FROM ferry.alert_rule_versions s
    WHERE s.id = v.id AND s.account = v.account AND s.valid_from >= coalesce(o.valid_to, '-infinity')
    ORDER BY s.valid_from LIMIT 1
  ) s
  WHERE c.valid_to IS NULL AND c.debug_log_enabled
  ORDER BY since, account, id;

COMMENT ON VIEW ferry.rules_debug_left_on IS 'The current alert rules with debug logging on, longest first: since when, and who had last edited them at that time.';
SELECT ferry_internal.describe_columns('ferry.rules_debug_left_on', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_debug_left_on.since IS 'Since when it has been on, as observed.';
COMMENT ON COLUMN ferry.rules_debug_left_on.on_for IS 'How long it has been on.';
COMMENT ON COLUMN ferry.rules_debug_left_on.switch_seen IS 'Whether Ferry saw it being switched on. If not, it was on when the rule was first seen. Null: unknown, because the history before history_start() was pruned; then it may have been on earlier.';
COMMENT ON COLUMN ferry.rules_debug_left_on.updater_id IS 'Who had last edited the rule at that time, according to the platform.';
COMMENT ON COLUMN ferry.rules_debug_left_on.updater_name IS 'The name of that person.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.rules_default_timezone AS
  SELECT v.account, v.folder_id, v.id, v.name, v.team, v.enabled, v.cron_pattern, v.updater_name
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NULL AND coalesce(v.timezone, '') = ''
  ORDER BY account, folder_id, name, id;

COMMENT ON VIEW ferry.rules_default_timezone IS 'The current alert rules without a time zone, by folder: the platform reads their schedules as Asia/Shanghai.';
SELECT ferry_internal.describe_columns('ferry.rules_default_timezone', 'ferry.alert_rule_versions');
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.rules_longest_firing(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, began timestamptz,
  ended timestamptz, fired_for interval
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH longest AS MATERIALIZED (
    SELECT DISTINCT ON (e.id, e.account) e.account, e.id, e.began, e.ended, coalesce(e.ended, clock_timestamp()) - e.began AS fired_for
    FROM (
      SELECT f.account, f.id, f.began, f.ended FROM ferry.alert_rule_firings f
      WHERE f.ended > coalesce($1, now() - interval '7 days') AND f.ended < 'infinity'
      UNION ALL
      SELECT f.account, f.id, f.began, NULL FROM ferry.alert_rule_firings f WHERE f.ended IS NULL
    ) e
    ORDER BY e.id, e.account, fired_for DESC
  )
  SELECT l.account, l.id, v.name, v.folder_id, v.team, l.began, l.ended, l.fired_for
  FROM longest l
  CROSS JOIN LATERAL (
    SELECT v.name, v.folder_id, v.team FROM ferry.alert_rule_versions v
    WHERE v.id = l.id AND v.account = l.account ORDER BY v.valid_from DESC LIMIT 1
  ) v
  ORDER BY l.fired_for DESC, l.account, l.id
$$;

COMMENT ON FUNCTION ferry.rules_longest_firing IS 'The longest episode of each alert rule that fired since a time (null: seven days ago), the longest first; with its whole length, also if it began before. ended is null while it fires.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.rules_never_fired(at_most integer DEFAULT 1000, of_account text DEFAULT NULL)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, first_seen timestamptz,
  days_observed double precision, updater_name text, in_all integer
) LANGUAGE sql STABLE SET jit = off SET enable_hashjoin = off SET enable_seqscan = off AS $$
  SELECT n.*, (
    SELECT count(*)::int FROM ferry.alert_rule_versions c
    WHERE c.valid_to IS NULL AND c.enabled AND ($2 IS NULL OR c.account = $2)
      AND NOT EXISTS (SELECT FROM ferry.alert_rule_firings f WHERE f.id = c.id AND f.account = c.account)
  )
  FROM ferry_internal.never_fired($1, $2, NULL, NULL, NULL) n
  ORDER BY n.days_observed DESC, n.id, n.account
$$;

COMMENT ON FUNCTION ferry.rules_never_fired IS 'The enabled alert rules that were never seen firing, longest observed first: at most this many (1,000 by default, null for all), those with the lowest ids, of one account if it is named; in_all says how many there are. first_seen: when the oldest version that is kept began. days_observed: for how long the rule was there and enabled, from history_start() on: what fired before is not known. An alert that began and ended between two polls was not seen.';
--> statement-breakpoint
-- A rule is off since its last enabled version ended, or since the rule was first seen.
CREATE OR REPLACE VIEW ferry.rules_switched_off AS
  SELECT v.account, v.id, v.name, v.folder_id, v.team, f.since, clock_timestamp() - f.since AS off_for,
    CASE WHEN o.valid_to IS NOT NULL THEN true WHEN f.since >= (SELECT ferry.history_start()) THEN false END AS switch_seen, f.updater_id, f.updater_name
  FROM ferry.alert_rule_versions v
  LEFT JOIN LATERAL (
    SELECT o.valid_to FROM ferry.alert_rule_versions o
    WHERE o.id = v.id AND o.account = v.account AND o.valid_from < v.valid_from AND o.enabled
    ORDER BY o.valid_from DESC LIMIT 1
  ) o ON true
  LEFT JOIN LATERAL (
    -- Nothing to look up if the current version is the first one that is off.
    SELECT s.valid_from, s.updater_id, s.updater_name FROM ferry.alert_rule_versions s
    WHERE s.id = v.id AND s.account = v.account AND s.valid_from >= coalesce(o.valid_to, '-infinity')
      AND v.valid_from > coalesce(o.valid_to, '-infinity')
    ORDER BY s.valid_from LIMIT 1
  ) s ON true
  CROSS JOIN LATERAL (
    SELECT coalesce(s.valid_from, v.valid_from) AS since,
      CASE WHEN s.valid_from IS NULL THEN v.updater_id ELSE s.updater_id END AS updater_id,
      CASE WHEN s.valid_from IS NULL THEN v.updater_name ELSE s.updater_name END AS updater_name
  ) f
  WHERE v.valid_to IS NULL AND NOT v.enabled
  ORDER BY f.since DESC, v.account, v.id;

COMMENT ON VIEW ferry.rules_switched_off IS 'The current alert rules that are disabled, most recent first: since when, and who had last edited them at that time.';
SELECT ferry_internal.describe_columns('ferry.rules_switched_off', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_switched_off.since IS 'Since when it has been disabled, as observed.';
COMMENT ON COLUMN ferry.rules_switched_off.off_for IS 'How long it has been disabled.';
COMMENT ON COLUMN ferry.rules_switched_off.switch_seen IS 'Whether Ferry saw it being disabled. If not, it was disabled when the rule was first seen. Null: unknown, because the history before history_start() was pruned; then it may have been disabled earlier.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_id IS 'Who had last edited the rule at that time, according to the platform.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_name IS 'The name of that person.';
--> statement-breakpoint
-- Finds the rules in the index of current rules alone, then reads them.
CREATE OR REPLACE VIEW ferry.rules_unowned AS
  SELECT v.account, v.folder_id, v.id, v.name, v.enabled, v.labels, v.creator_name, v.updater_name
  FROM ferry.alert_rule_versions c
  JOIN ferry.alert_rule_versions v ON v.id = c.id AND v.account = c.account AND v.valid_to IS NULL
  WHERE c.valid_to IS NULL AND c.team IS NULL
  ORDER BY account, folder_id, name, id;

COMMENT ON VIEW ferry.rules_unowned IS 'The current alert rules whose labels name no team, owner or squad, by folder.';
SELECT ferry_internal.describe_columns('ferry.rules_unowned', 'ferry.alert_rule_versions');
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.runs_health(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, inventory text, runs integer, succeeded integer, held integer, partial integer, failed integer,
  skipped integer, running integer, added integer, changed integer, removed integer, quarantined integer, requests integer,
  p50 interval, p95 interval, longest interval, last_error_code text
) LANGUAGE sql STABLE AS $$
  SELECT r.account, r.resource, count(*)::integer, count(*) FILTER (WHERE r.status = 'succeeded')::integer,
    count(*) FILTER (WHERE r.status = 'held')::integer, count(*) FILTER (WHERE r.status = 'partial')::integer,
    count(*) FILTER (WHERE r.status = 'failed')::integer, count(*) FILTER (WHERE r.status = 'skipped')::integer,
    count(*) FILTER (WHERE r.status = 'running')::integer, sum(r.added)::integer, sum(r.changed)::integer,
    sum(r.removed)::integer, sum(r.quarantined)::integer, sum(r.requests)::integer,
    make_interval(secs => percentile_cont(0.5) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => percentile_cont(0.95) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => max(e.seconds)),
    (SELECT l.error_code FROM ferry.sync_runs l
     WHERE l.id = max(r.id) FILTER (WHERE r.error_code IS NOT NULL))
  FROM ferry.sync_runs r
  CROSS JOIN LATERAL (
    SELECT CASE WHEN r.status <> 'skipped' THEN extract(epoch FROM r.finished_at - r.started_at)::double precision END AS seconds
  ) e
  WHERE r.started_at >= coalesce($1, now() - interval '1 day')
  GROUP BY r.account, r.resource
  ORDER BY r.account, r.resource
$$;

COMMENT ON FUNCTION ferry.runs_health IS 'How the runs of each inventory ended: account, inventory, runs, how many of each status, the sums of their rows and requests, how long they took (p50, p95, longest; without skipped ones), and the last error code. Since: one day ago by default.';
--> statement-breakpoint
-- What happened to a rule while it fired, or soon after. An episode that ended in the poll that saw the change counts as
-- one that was firing: a rule that is disabled or removed stops firing.
CREATE OR REPLACE FUNCTION ferry.silenced(since timestamptz DEFAULT NULL, soon_after interval DEFAULT '1 hour')
RETURNS TABLE (
  account text, at timestamptz, what text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, fields text[],
  updater_id numeric(20, 0), updater_name text, began timestamptz, ended timestamptz, while_firing boolean
) LANGUAGE sql STABLE
SET jit = off SET enable_mergejoin = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH episodes AS MATERIALIZED (
    SELECT f.account, f.id, f.began, f.ended FROM ferry.alert_rule_firings f
    WHERE f.ended >= coalesce($1, now() - interval '7 days') - $2 AND f.ended < 'infinity'
    UNION ALL
    SELECT f.account, f.id, f.began, NULL FROM ferry.alert_rule_firings f WHERE f.ended IS NULL
  ), versions_ended AS MATERIALIZED (
    -- Changed or removed: either way, a version ended.
    SELECT v.account, v.id, v.valid_to AS at FROM ferry.alert_rule_versions v
    WHERE v.valid_to >= coalesce($1, now() - interval '7 days') AND v.valid_to < 'infinity'
  ), found AS MATERIALIZED (
    SELECT c.account, c.id, c.at, max(e.began) AS began
    FROM versions_ended c
    JOIN episodes e ON e.id = c.id AND e.account = c.account AND e.began < c.at AND coalesce(e.ended, 'infinity') >= c.at - $2
    GROUP BY c.account, c.id, c.at
  )
  SELECT f.account, f.at, CASE WHEN a.id IS NULL THEN 'removed' WHEN b.enabled AND NOT a.enabled THEN 'disabled' ELSE 'edited' END,
    f.id, coalesce(a.name, b.name), coalesce(a.folder_id, b.folder_id), CASE WHEN a.id IS NULL THEN b.team ELSE a.team END, d.fields,
    a.updater_id, a.updater_name, f.began, e.ended, coalesce(e.ended, 'infinity') >= f.at
  FROM found f
  JOIN ferry.alert_rule_firings e ON e.id = f.id AND e.account = f.account AND e.began = f.began
  CROSS JOIN LATERAL (
    SELECT b.*, b AS version FROM ferry.alert_rule_versions b
    WHERE b.id = f.id AND b.account = f.account AND b.valid_from < f.at ORDER BY b.valid_from DESC LIMIT 1
  ) b
  LEFT JOIN ferry.alert_rule_versions a ON a.id = f.id AND a.account = f.account AND a.valid_from = f.at
  LEFT JOIN LATERAL (
    SELECT array_agg(n.key ORDER BY n.key) AS fields
    FROM ferry_internal.alert_rule_differences(b.version, a) x, jsonb_object_keys(x.after) AS n (key)
    WHERE n.key <> ALL ('{updater_id,updater_name,updated_at}'::text[])
  ) d ON true
  ORDER BY f.at DESC, f.account, f.id
$$;

COMMENT ON FUNCTION ferry.silenced IS 'Alert rules that were disabled, removed or edited while they fired or soon after (an hour by default), since a time (null: seven days ago), the newest first. what: disabled, removed or edited, with the fields that differ. updater_id and updater_name: who, according to the platform, which does not say who removes a rule. began and ended: the episode; while_firing: whether it had not ended before.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.snapshots_of_night(night date)
RETURNS TABLE (account text, taken_at timestamptz) LANGUAGE sql STABLE AS $$
  WITH taken AS MATERIALIZED (
    SELECT n.account, n.taken_at FROM ferry.nights($1 - 1) n WHERE n.night = $1 AND n.taken_at IS NOT NULL
  )
  -- A night of which there is no snapshot may be one whose snapshots were removed.
  SELECT t.account, t.taken_at FROM (
    SELECT coalesce((SELECT min(t.taken_at) FROM taken t), $1::timestamptz) AS first OFFSET 0
  ) f
  LEFT JOIN taken t ON true
  WHERE ferry_internal.expect_history(f.first) AND t.account IS NOT NULL
$$;

COMMENT ON FUNCTION ferry.snapshots_of_night IS 'The snapshot of a night of each account that has one, see ferry.nights. Raises an error if the history starts later.';
--> statement-breakpoint
-- From the counts that are kept while batches are sent, see count_locales.sql: however many recipients there are.
CREATE OR REPLACE VIEW ferry.subscribers_by_page_locale AS
  SELECT i.account, i.page_id, i.method, l.locale, sum(l.sent)::integer AS subscribers
  FROM ferry.import_locales l JOIN ferry.imports i ON i.id = l.import_id
  GROUP BY i.account, i.page_id, i.method, l.locale
  ORDER BY i.account, i.page_id, i.method, subscribers DESC, l.locale;

COMMENT ON VIEW ferry.subscribers_by_page_locale IS 'How many rows the platform accepted for each status page, by locale. Counts only. A person imported again with --update counts again.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.page_id IS 'The status page.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.method IS 'How they are notified, such as email.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.locale IS 'The language of their notifications.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.subscribers IS 'How many.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.time_to_clear(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, team text, episodes integer, p50 interval, p90 interval, longest interval, removed integer, began_unseen integer
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH ended AS MATERIALIZED (
    -- Once for each: what is inlined is looked up as often as it is named.
    SELECT e.account, e.id, e.began, e.ended, e.began_seen, e.was_cleared
    FROM ferry_internal.episodes(coalesce($1, now() - interval '7 days')) e WHERE e.ended IS NOT NULL
  ), episodes AS MATERIALIZED (
    SELECT e.account, e.id, CASE WHEN e.was_cleared AND e.began_seen THEN e.ended - e.began END AS took,
      NOT e.was_cleared AS is_removed, e.was_cleared AND NOT e.began_seen AS is_unseen
    FROM ended e
  ), rules AS MATERIALIZED (
    SELECT r.account, r.id, v.team
    FROM (SELECT e.account, e.id FROM episodes e GROUP BY e.id, e.account) r
    CROSS JOIN LATERAL (
      SELECT v.team FROM ferry.alert_rule_versions v
      WHERE v.id = r.id AND v.account = r.account ORDER BY v.valid_from DESC LIMIT 1
    ) v
  )
  SELECT e.account, r.team, count(e.took)::int, percentile_cont(0.5) WITHIN GROUP (ORDER BY e.took),
    percentile_cont(0.9) WITHIN GROUP (ORDER BY e.took), max(e.took),
    (count(*) FILTER (WHERE e.is_removed))::int, (count(*) FILTER (WHERE e.is_unseen))::int
  FROM episodes e JOIN rules r ON r.id = e.id AND r.account = e.account
  GROUP BY e.account, r.team
  ORDER BY e.account, r.team
$$;

COMMENT ON FUNCTION ferry.time_to_clear IS 'How long the episodes lasted that were cleared since a time (null: seven days ago), by the team of the rule: half of them at most p50, nine in ten at most p90. Two kinds of episodes that ended are only counted: those whose rule was removed while it fired (removed), and those that were cleared but not seen to begin, because a first reading found the rule firing or it appeared so (began_unseen). A begin and an end are known to one poll, so an episode may have been shorter or longer by one poll interval.';
--> statement-breakpoint
-- A complete reading says nothing of a row that it quarantined, nor of one whose removal it held.
CREATE OR REPLACE FUNCTION ferry_internal.unseen_since(runs bigint[])
RETURNS TABLE (run_id bigint, id text, first_run bigint) LANGUAGE sql STABLE AS $$
  WITH RECURSIVE quarantined AS (
    SELECT q.until_run AS run_id, q.id, q.run_id AS first_run FROM ferry.quarantined_rows q
    WHERE q.until_run = ANY ($1) AND q.id IS NOT NULL
    UNION ALL
    SELECT n.run_id, n.id, q.run_id FROM quarantined n
    JOIN ferry.quarantined_rows q ON q.until_run = n.first_run AND q.id = n.id AND q.run_id < n.first_run
  )
  SELECT u.run_id, u.id, min(u.first_run) FROM (
    SELECT n.run_id, n.id, n.first_run FROM quarantined n
    UNION ALL
    SELECT r.id, h.id, coalesce(h.since_run, o.opened_by_run) FROM ferry.sync_runs r
    JOIN ferry.removal_holds o ON o.account = r.account AND o.resource = r.resource AND o.opened_by_run < r.id
      AND (o.ended_at BETWEEN r.started_at AND r.finished_at OR o.outcome = 'rejected')
    CROSS JOIN LATERAL unnest(o.ids, o.since_runs) h (id, since_run)
    WHERE r.id = ANY ($1) AND h.id IS NOT NULL
  ) u
  GROUP BY u.run_id, u.id
$$;

COMMENT ON FUNCTION ferry_internal.unseen_since IS 'Rules and servers about which the complete readings before these runs (sync_runs.id) said nothing: their rows were quarantined, or their removal was held, from first_run on. For around.';
--> statement-breakpoint
-- As its owner: readers may not see the tokens of leases. A lease that has expired is of a worker that died, or is about to be renewed.
CREATE OR REPLACE VIEW ferry.work_under_way AS
  SELECT l.holder, 'run' AS kind, r.account, r.resource AS name, r.id AS number, l.acquired_at AS since
  FROM ferry.sync_runs r
  JOIN ferry.leases l ON l.name = concat_ws(':', 'sync', r.account, r.resource) AND l.token = r.lease_token
  WHERE r.finished_at IS NULL AND l.expires_at > clock_timestamp()
  UNION ALL
  SELECT l.holder, 'import', i.account, i.page_id::text, i.id, l.acquired_at
  FROM ferry.imports i
  JOIN ferry.leases l ON l.name = concat_ws(':', 'import', i.account, i.page_id, i.method)
  WHERE i.finished_at IS NULL AND i.status IN ('queued', 'running') AND l.expires_at > clock_timestamp()
    -- Imports of a page have one lease: the oldest is sent.
    AND NOT EXISTS (
      SELECT FROM ferry.imports o
      WHERE o.account = i.account AND o.page_id = i.page_id AND o.method = i.method AND o.id < i.id
        AND o.status IN ('queued', 'running'))
  UNION ALL
  SELECT l.holder, 'schedule', s.account, s.schedule, NULL, l.acquired_at
  FROM ferry.schedule_slots s
  JOIN ferry.leases l ON l.name = concat_ws(
    ':', 'slot', s.schedule, s.account, to_char(s.slot AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  WHERE s.done_at IS NULL AND l.expires_at > clock_timestamp();

COMMENT ON VIEW ferry.work_under_way IS 'What workers are doing now: runs, imports and slots of schedules, each with its worker.';
COMMENT ON COLUMN ferry.work_under_way.holder IS 'The worker that is doing it (workers.holder), or a command that is doing it in its own process.';
COMMENT ON COLUMN ferry.work_under_way.kind IS 'run, import or schedule. A schedule lasts as long as the runs that it starts.';
COMMENT ON COLUMN ferry.work_under_way.account IS 'The account it is done for; * for all accounts.';
COMMENT ON COLUMN ferry.work_under_way.name IS 'The inventory of a run, the page of an import, or the name of a schedule.';
COMMENT ON COLUMN ferry.work_under_way.number IS 'The run (sync_runs.id) or the import (imports.id); null for a schedule.';
COMMENT ON COLUMN ferry.work_under_way.since IS 'Since when its worker has been doing it.';
--> statement-breakpoint
-- Only IANA names, as the contract wants them: Postgres also takes abbreviations and POSIX texts such as UTC+8, which is eight
-- hours WEST of UTC. It takes some IANA names for abbreviations, which have no summer time: these are read by another name of the
-- same zone. pg_timezone_names has them all, and takes a tenth of a second.
CREATE OR REPLACE FUNCTION ferry_internal.zone_of(p_timezone text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_zone text := CASE p_timezone WHEN 'CET' THEN 'Europe/Brussels' WHEN 'MET' THEN 'Europe/Brussels' WHEN 'EET' THEN 'Europe/Athens'
    WHEN 'WET' THEN 'Europe/Lisbon' WHEN 'EST' THEN 'America/Panama' WHEN 'MST' THEN 'America/Phoenix' WHEN 'HST' THEN 'Pacific/Honolulu'
    ELSE p_timezone END;
BEGIN
  IF v_zone ~ '^[A-Z][A-Za-z_-]*(/[A-Z][A-Za-z_-]*)+$' OR v_zone ~ '^Etc/GMT([+](\d|1[0-2])|-(\d|1[0-4])|0)$' OR v_zone = ANY (
    '{CST6CDT,Cuba,EST5EDT,Egypt,Eire,GB,GB-Eire,GMT,GMT+0,GMT-0,GMT0,Greenwich,Hongkong,Iceland,Iran,Israel,Jamaica,Japan,Kwajalein,Libya,MST7MDT,NZ,NZ-CHAT,Navajo,PRC,PST8PDT,Poland,Portugal,ROC,ROK,Singapore,Turkey,UCT,UTC,Universal,W-SU,Zulu}')
  THEN
    PERFORM now() AT TIME ZONE v_zone;
    RETURN v_zone;
  END IF;
  RETURN 'Asia/Shanghai';
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN 'Asia/Shanghai';
END $$;

COMMENT ON FUNCTION ferry_internal.zone_of IS 'The time zone in which the platform reads a rule''s schedule: Asia/Shanghai if the rule has none, or names one that is not an IANA name, or that this Postgres does not know.';
--> statement-breakpoint
-- One row for each addition, change, removal and return of a rule. `before` and `after` hold the fields that differ. Each
-- version looks up the version before it, so that a condition on the rule or on the time reaches the index. Before the
-- history starts nobody knows whether a version had one before it.
CREATE OR REPLACE VIEW ferry.alert_rule_changes AS
  SELECT v.account, v.id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.name,
    CASE WHEN p.version IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after, CASE WHEN v.appeared IS NULL THEN v.updater_id END AS updater_id,
    CASE WHEN v.appeared IS NULL THEN v.updater_name END AS updater_name, coalesce(v.appeared = 'first reading', false) AS first_reading
  FROM ferry.alert_rule_versions v
  LEFT JOIN LATERAL (
    SELECT p.valid_to, p AS version FROM ferry.alert_rule_versions p
    WHERE p.id = v.id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p ON true
  LEFT JOIN LATERAL ferry_internal.alert_rule_differences(p.version, v) d ON true
  WHERE v.valid_from >= coalesce((SELECT starts_at FROM ferry.history), '-infinity')
  UNION ALL
  SELECT v.account, v.id, v.valid_to, v.closed_by_run, v.name, 'removed', NULL, NULL, NULL, NULL, false
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to >= coalesce((SELECT starts_at FROM ferry.history), '-infinity') AND NOT EXISTS (
    SELECT FROM ferry.alert_rule_versions n WHERE n.id = v.id AND n.account = v.account AND n.valid_from = v.valid_to
  );

COMMENT ON VIEW ferry.alert_rule_changes IS 'What happened to alert rules: one row for every addition, change, removal and return, from history_start() on. A rule that returns after its earlier versions were pruned counts as added.';
SELECT ferry_internal.describe_columns('ferry.alert_rule_changes', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rule_changes.observed_at IS 'When it was observed. A run under way may still add changes that are later than settled_at().';
COMMENT ON COLUMN ferry.alert_rule_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.alert_rule_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.alert_rule_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_id IS 'Who changed it, according to the platform; null for a removal, and for what appeared without having been created then.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_name IS 'The name of that person.';
COMMENT ON COLUMN ferry.alert_rule_changes.first_reading IS 'Whether the rule was found by a first reading, see alert_rule_versions.appeared; if so, nobody added it at that moment.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.alert_rules_as_of(at timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), account_id numeric(20, 0), folder_id numeric(20, 0), name text, labels jsonb, ds_type text, enabled boolean, debug_log_enabled boolean, cron_pattern text, timezone text, delay_seconds bigint, creator_id numeric(20, 0), creator_name text, updater_id numeric(20, 0), updater_name text, created_at bigint, updated_at bigint,
  triggered boolean,
  valid_from timestamptz, valid_to timestamptz, opened_by_run bigint, closed_by_run bigint,
  fingerprint uuid, flags text[], altered text[]
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.id, v.account_id, v.folder_id, v.name, v.labels, v.ds_type, v.enabled, v.debug_log_enabled, v.cron_pattern, v.timezone, v.delay_seconds, v.creator_id, v.creator_name, v.updater_id, v.updater_name, v.created_at, v.updated_at,
    -- Episodes do not overlap: the youngest begun by then decides. (As EXISTS it would be hashed: all episodes read.)
    coalesce((SELECT f.ended IS NULL OR f.ended > $1 FROM ferry.alert_rule_firings f
              WHERE f.id = v.id AND f.account = v.account AND f.began <= $1
              ORDER BY f.began DESC LIMIT 1), false) AS triggered,
    v.valid_from, v.valid_to, v.opened_by_run, v.closed_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.alert_rule_versions v
  WHERE v.valid_from <= $1 AND (v.valid_to IS NULL OR v.valid_to > $1)
    AND ferry_internal.expect_history($1)
$$;

COMMENT ON FUNCTION ferry.alert_rules_as_of IS 'The alert rules as they were known at a moment; the columns of alert_rules, and valid_to and closed_by_run. For a moment up to settled_at() the answer never changes.';
--> statement-breakpoint
-- A rule that differs has a version that began or ended between the two instants, so only such versions are read. They are
-- sorted by id first: to compare their accounts first would take twice as long.
CREATE OR REPLACE FUNCTION ferry_internal.alert_rules_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), change text, first_reading boolean, old ferry.alert_rule_versions, new ferry.alert_rule_versions
) LANGUAGE sql STABLE AS $$
  SELECT c.account, c.id, d.change, d.first_reading, d.old, d.new
  FROM (
    SELECT v.id, v.account FROM ferry.alert_rule_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.id, v.account FROM ferry.alert_rule_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  CROSS JOIN LATERAL ferry_internal.compare_alert_rule(c.account, c.id, $1, $2) d
$$;

COMMENT ON FUNCTION ferry_internal.alert_rules_between IS 'The alert rules that differ between two instants, as compare_alert_rule reports them, whatever happened in between.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.mcp_server_changes AS
  SELECT v.account, v.server_id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.server_name,
    CASE WHEN p.version IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after, coalesce(v.appeared = 'first reading', false) AS first_reading
  FROM ferry.mcp_server_versions v
  LEFT JOIN LATERAL (
    SELECT p.valid_to, p AS version FROM ferry.mcp_server_versions p
    WHERE p.server_id = v.server_id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p ON true
  LEFT JOIN LATERAL ferry_internal.mcp_server_differences(p.version, v) d ON true
  WHERE v.valid_from >= coalesce((SELECT starts_at FROM ferry.history), '-infinity')
  UNION ALL
  SELECT v.account, v.server_id, v.valid_to, v.closed_by_run, v.server_name, 'removed', NULL, NULL, false
  FROM ferry.mcp_server_versions v
  WHERE v.valid_to >= coalesce((SELECT starts_at FROM ferry.history), '-infinity') AND NOT EXISTS (
    SELECT FROM ferry.mcp_server_versions n WHERE n.server_id = v.server_id AND n.account = v.account AND n.valid_from = v.valid_to
  );

COMMENT ON VIEW ferry.mcp_server_changes IS 'What happened to MCP servers: one row for every addition, change, removal and return, from history_start() on. A server that returns after its earlier versions were pruned counts as added.';
SELECT ferry_internal.describe_columns('ferry.mcp_server_changes', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_server_changes.observed_at IS 'When it was observed. A run under way may still add changes that are later than settled_at().';
COMMENT ON COLUMN ferry.mcp_server_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.mcp_server_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.mcp_server_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.mcp_server_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.mcp_server_changes.first_reading IS 'Whether the server was found by a first reading, see mcp_server_versions.appeared; if so, nobody added it at that moment.';
--> statement-breakpoint
-- The rules of that night that are still as they were, in the index of current rules, and those that ended since then, in the
-- index by end. Postgres cannot know the night, and takes a third of all versions to have ended since then, anywhere in the
-- table: whoever asks sets random_page_cost to what it is in a cache, else it reads all versions.
CREATE OR REPLACE FUNCTION ferry.alert_rules_of_night(night date)
RETURNS TABLE (
  account text, id numeric(20, 0), folder_id numeric(20, 0), name text, labels jsonb, team text, enabled boolean,
  debug_log_enabled boolean, triggered boolean, creator_name text, updater_name text
) LANGUAGE sql STABLE AS $$
  WITH taken AS MATERIALIZED (
    SELECT s.account, s.taken_at FROM ferry.snapshots_of_night($1) s
  ), firing AS MATERIALIZED (
    -- Two looks into indexes: an OR would read all episodes.
    SELECT f.account, f.id FROM taken t
    JOIN ferry.alert_rule_firings f ON f.account = t.account AND f.began <= t.taken_at AND f.ended > t.taken_at
    UNION ALL
    SELECT f.account, f.id FROM taken t
    JOIN ferry.alert_rule_firings f ON f.account = t.account AND f.began <= t.taken_at AND f.ended IS NULL
  )
  SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, f.id IS NOT NULL,
    v.creator_name, v.updater_name
  FROM (
    SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, v.creator_name, v.updater_name
    FROM taken t
    JOIN ferry.alert_rule_versions v ON v.account = t.account AND v.valid_from <= t.taken_at AND v.valid_to IS NULL
    UNION ALL
    SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, v.creator_name, v.updater_name
    FROM taken t
    JOIN ferry.alert_rule_versions v ON v.account = t.account AND v.valid_from <= t.taken_at AND v.valid_to > t.taken_at
  ) v
  LEFT JOIN firing f ON f.id = v.id AND f.account = v.account
$$;

COMMENT ON FUNCTION ferry.alert_rules_of_night IS 'The alert rules as each account''s snapshot of a night shows them, see ferry.nights; none of an account that has no snapshot of that night. Raises an error if the history starts later.';
--> statement-breakpoint
-- Looks at the complete runs since the last one before `since`. Runs that changed nothing are kept for some time only, so
-- it looks no farther back than that.
CREATE OR REPLACE FUNCTION ferry.blind_spots(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, inventory text, "from" timestamptz, "to" timestamptz, lasted interval, late_from timestamptz,
  fresh_again_at timestamptz, error_code text
) LANGUAGE sql STABLE SET jit = off AS $$
  SELECT i.account, i.inventory, g.at, g.next_at, coalesce(g.next_at, now()) - g.at,
    -- What a run has read is there once it has finished: until then the gap before it lasts.
    greatest(g.at + i.target, g.finished_at), g.next_finished_at,
    l.error_code
  FROM (
    SELECT n.account, n.inventory, p.target, p.folders, s.since, coalesce(
      (SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= s.since ORDER BY r.started_at LIMIT 1),
      9223372036854775807) AS run_since
    FROM ferry.inventories n
    JOIN ferry.freshness_targets p ON p.account = n.account AND p.resource = n.inventory
    CROSS JOIN LATERAL (
      SELECT greatest(coalesce($1, now() - interval '7 days'), now() - p.runs_kept) AS since
    ) s
    OFFSET 0
  ) i
  CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT c.id, c.at, c.finished_at, lead(c.id) OVER w AS next_id, lead(c.at) OVER w AS next_at, lead(c.finished_at) OVER w AS next_finished_at
      FROM (
        SELECT r.id, least(r.started_at, r.finished_at) AS at, r.finished_at FROM ferry_internal.complete_runs r
        WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders IN (i.folders, '["0"]')
          -- Two looks into the index, each in its order.
          AND r.id >= greatest(
            (SELECT e.id FROM ferry_internal.complete_runs e
             WHERE e.account = i.account AND e.inventory = i.inventory AND e.folders = i.folders AND e.id < i.run_since
             ORDER BY e.id DESC LIMIT 1),
            (SELECT e.id FROM ferry_internal.complete_runs e
             WHERE e.account = i.account AND e.inventory = i.inventory AND e.folders = '["0"]' AND e.id < i.run_since
             ORDER BY e.id DESC LIMIT 1), 0)
      ) c
      WINDOW w AS (ORDER BY c.id)
    ) o
    WHERE coalesce(o.next_finished_at, now()) > greatest(o.at + i.target, i.since)
  ) g
  LEFT JOIN LATERAL (
    SELECT r.error_code FROM ferry.sync_runs r
    WHERE r.account = i.account AND r.resource = i.inventory AND r.id > g.id AND r.id < coalesce(g.next_id, r.id + 1)
      AND r.status IN ('failed', 'partial')
    ORDER BY r.id DESC LIMIT 1
  ) l ON true
  ORDER BY g.at DESC, i.account, i.inventory
$$;

COMMENT ON FUNCTION ferry.blind_spots IS 'Times in which no complete listing was read for longer than the freshness target, latest first: account, inventory, from (the last complete listing before it), to (the next one; null if there is none yet), lasted, late_from and fresh_again_at (between them the data was older than its freshness target), error_code (of the last run in it that failed). Since: 7 days ago by default.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.changes_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, inventory text, change text, id text, name text, folder_id numeric(20, 0), updater_name text, before jsonb, after jsonb,
  first_reading boolean
) LANGUAGE sql STABLE AS $$
  SELECT c.account, 'alert-rules', c.change, c.id::text, coalesce((c.new).name, (c.old).name), coalesce((c.new).folder_id, (c.old).folder_id),
    (c.new).updater_name, d.before, d.after, c.first_reading
  FROM ferry_internal.alert_rules_between($1, $2) c
  LEFT JOIN LATERAL ferry_internal.alert_rule_differences(c.old, c.new) d ON true
  WHERE ferry_internal.expect_history(least($1, $2))
  UNION ALL
  SELECT c.account, 'mcp-servers', c.change, c.server_id, coalesce((c.new).server_name, (c.old).server_name), NULL, NULL,
    d.before, d.after, c.first_reading
  FROM ferry_internal.mcp_servers_between($1, $2) c
  LEFT JOIN LATERAL ferry_internal.mcp_server_differences(c.old, c.new) d ON true
  WHERE ferry_internal.expect_history(least($1, $2))
$$;

COMMENT ON FUNCTION ferry.changes_between IS 'What was added, changed and removed in both inventories between two instants: one row for each rule and server that differs, whatever happened in between. Raises an error if the history starts later. before and after: the fields that differ, of a change. updater_name: who last edited the rule before the second instant. first_reading: it was found by a first reading, so nobody added it in that time.';
--> statement-breakpoint
-- Rules have few distinct schedules. A schedule that is the same in every hour needs no time zone
-- but for the minutes of its offset; of the others, each local time of the week is turned into an instant. Where clocks are
-- changed, it is as in cron-parser: a schedule of every hour is due in each hour that there is. Another one is due an hour later if
-- its hour is left out, and once in an hour that comes twice: in the first one. A rule is evaluated delay_seconds after it is due:
-- what is evaluated in a week was due in a week that is earlier by the whole minutes of the delay, and the seconds stay in the minute.
CREATE OR REPLACE FUNCTION ferry.cron_load(week timestamptz DEFAULT NULL, worst integer DEFAULT 60, of_account text DEFAULT NULL)
RETURNS TABLE (
  account text, rank integer, minute timestamptz, evaluations integer, average double precision
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH span AS MATERIALIZED (
    SELECT date_trunc('week', coalesce($1, now()), 'UTC') AS begins, date_trunc('week', coalesce($1, now()), 'UTC') + interval '7 days' AS ends
  ), schedules AS MATERIALIZED (
    SELECT v.account, v.cron_pattern, v.timezone, c.delay, count(*) AS rules FROM ferry.alert_rule_versions v
    CROSS JOIN LATERAL (SELECT make_interval(mins => floor(greatest(least(v.delay_seconds, 31536000), -31536000) / 60.0)::int) AS delay) c
    WHERE v.valid_to IS NULL AND v.enabled AND ($3 IS NULL OR v.account = $3) AND octet_length(v.cron_pattern) <= 400 AND coalesce(octet_length(v.timezone), 0) <= 100
    GROUP BY v.account, v.cron_pattern, v.timezone, c.delay
  ), zones AS MATERIALIZED (
    SELECT o.*, o.earlier <> o.later AS has_change, o.earlier - o.later AS set_back
    FROM (
      SELECT z.timezone, z.zone, d.delay, w.begins - d.delay AS begins, w.ends - d.delay AS ends
      FROM span w
      CROSS JOIN (
        SELECT z.timezone, ferry_internal.zone_of(z.timezone) AS zone FROM (SELECT DISTINCT s.timezone FROM schedules s) z
      ) z
      CROSS JOIN (SELECT DISTINCT s.delay FROM schedules s) d
    ) z
    CROSS JOIN LATERAL (
      SELECT z.*, (z.begins - interval '1 day') AT TIME ZONE z.zone - (z.begins - interval '1 day') AT TIME ZONE 'UTC' AS earlier,
        (z.ends + interval '1 day') AT TIME ZONE z.zone - (z.ends + interval '1 day') AT TIME ZONE 'UTC' AS later
    ) o
  ), patterns AS MATERIALIZED (
    SELECT p.cron_pattern, ferry_internal.cron_field(p.fields[1], 0, 59) AS minutes, ferry_internal.cron_field(p.fields[2], 0, 23) AS hours,
      ferry_internal.cron_field(p.fields[3], 1, 31) AS days, ferry_internal.cron_field(p.fields[4], 1, 12) AS months,
      ferry_internal.cron_field(p.fields[5], 0, 7) AS weekdays,
      -- A day matches if either the day of the month or the weekday does, if both are restricted.
      p.fields[3] IN ('*', '?') AS is_any_day, p.fields[5] IN ('*', '?') AS is_any_weekday
    FROM (
      SELECT c.cron_pattern, regexp_split_to_array(btrim(c.cron_pattern), '\s+') AS fields
      FROM (SELECT DISTINCT s.cron_pattern FROM schedules s) c
    ) p
    WHERE cardinality(p.fields) = 5
  ), known AS MATERIALIZED (
    SELECT s.account, z.zone, p.minutes, p.hours, p.days, p.months, p.weekdays, p.is_any_day, p.is_any_weekday, z.has_change, z.set_back, z.delay, z.begins, z.ends, sum(s.rules) AS rules,
      extract(minute FROM z.begins AT TIME ZONE z.zone)::int AS shift,
      cardinality(p.hours) = 24 AND cardinality(p.days) = 31 AND cardinality(p.months) = 12 AND cardinality(p.weekdays) = 7
        AND extract(minute FROM z.begins AT TIME ZONE z.zone) = extract(minute FROM z.ends AT TIME ZONE z.zone) AS is_hourly
    FROM schedules s
    JOIN zones z ON z.timezone IS NOT DISTINCT FROM s.timezone AND z.delay = s.delay
    JOIN patterns p ON p.cron_pattern = s.cron_pattern
    WHERE p.minutes IS NOT NULL AND p.hours IS NOT NULL AND p.days IS NOT NULL AND p.months IS NOT NULL AND p.weekdays IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17
  ), hourly AS MATERIALIZED (
    SELECT k.account, (m + 60 - k.shift) % 60 AS minute, sum(k.rules) AS rules
    FROM known k CROSS JOIN LATERAL unnest(k.minutes) AS m WHERE k.is_hourly GROUP BY 1, 2
  ), dated AS MATERIALIZED (
    SELECT k.account, i.minute + k.delay AS minute, sum(k.rules) AS rules
    FROM known k
    CROSS JOIN LATERAL generate_series(
      date_trunc('day', k.begins AT TIME ZONE k.zone), date_trunc('day', k.ends AT TIME ZONE k.zone), interval '1 day') AS d (day)
    CROSS JOIN LATERAL unnest(k.hours) AS h CROSS JOIN LATERAL unnest(k.minutes) AS m
    CROSS JOIN LATERAL (SELECT d.day + make_interval(hours => h, mins => m) AS local) l
    CROSS JOIN LATERAL (SELECT l.local AT TIME ZONE k.zone AS at, (l.local AT TIME ZONE k.zone) AT TIME ZONE k.zone AS real) a
    CROSS JOIN LATERAL unnest(CASE
      WHEN NOT k.has_change THEN ARRAY[a.at]
      WHEN a.real <> l.local THEN CASE
        WHEN cardinality(k.hours) = 24 OR extract(hour FROM a.real) = ANY (k.hours) AND extract(minute FROM a.real) = ANY (k.minutes)
        THEN '{}' ELSE ARRAY[a.at] END
      -- Of a local time that comes twice, Postgres takes the second.
      WHEN k.set_back > interval '0' AND (a.at - k.set_back) AT TIME ZONE k.zone = l.local THEN CASE
        WHEN cardinality(k.hours) = 24 THEN ARRAY[a.at - k.set_back, a.at] ELSE ARRAY[a.at - k.set_back] END
      ELSE ARRAY[a.at] END) AS i (minute)
    WHERE NOT k.is_hourly AND extract(month FROM d.day) = ANY (k.months)
      AND CASE WHEN k.is_any_day OR k.is_any_weekday
        THEN extract(day FROM d.day) = ANY (k.days) AND extract(dow FROM d.day) = ANY (k.weekdays)
        ELSE extract(day FROM d.day) = ANY (k.days) OR extract(dow FROM d.day) = ANY (k.weekdays) END
    GROUP BY 1, 2
  ), totals AS (
    SELECT a.account, m.minute, coalesce(o.rules, 0) + coalesce(d.rules, 0) AS evaluations
    FROM span w
    CROSS JOIN LATERAL generate_series(w.begins, w.ends - interval '1 minute', interval '1 minute') AS m (minute)
    CROSS JOIN (SELECT DISTINCT k.account FROM known k) a
    LEFT JOIN hourly o ON o.account = a.account AND o.minute = extract(minute FROM m.minute AT TIME ZONE 'UTC')::int
    LEFT JOIN dated d ON d.account = a.account AND d.minute = m.minute
  ), ranked AS (
    SELECT t.account, t.minute, t.evaluations, row_number() OVER (PARTITION BY t.account ORDER BY t.evaluations DESC, t.minute) AS rank,
      avg(t.evaluations) OVER (PARTITION BY t.account) AS average
    FROM totals t
  )
  SELECT r.account, r.rank::int, r.minute, r.evaluations::int, r.average::float8
  FROM ranked r WHERE r.rank <= coalesce($2, 10080)
  ORDER BY r.account, r.rank
$$;

COMMENT ON FUNCTION ferry.cron_load IS 'How many evaluations the enabled alert rules cause in each minute of a week (from Monday 00:00 UTC; null: this week), by cron_pattern, timezone and delay_seconds, the worst minutes first: 60 of each account by default, null for all 10,080; of one account if it is named. average: evaluations of a minute, over the whole week. A pattern that cannot be read, or is longer than 400 bytes, is left out; rules_contract_breaks lists these rules.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.editors(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), updater_id numeric(20, 0), updater_name text, edits integer,
  share double precision, last_edit timestamptz, only_editor boolean
) LANGUAGE sql STABLE SET jit = off SET enable_mergejoin = off SET enable_nestloop = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH counted AS MATERIALIZED (
    SELECT e.account, e.folder_id, e.updater_id, count(*) AS edits, max(e.edited_at) AS last_edit
    FROM ferry_internal.rule_edits(coalesce($1, now() - interval '30 days')) e
    GROUP BY e.account, e.folder_id, e.updater_id
  ), people AS MATERIALIZED (
    -- The name of a person, from the latest edit.
    SELECT p.account, p.updater_id, v.updater_name
    FROM (SELECT c.account, c.updater_id, max(c.last_edit) AS at FROM counted c GROUP BY c.account, c.updater_id) p
    CROSS JOIN LATERAL (
      SELECT v.updater_name FROM ferry.alert_rule_versions v
      WHERE v.valid_from = p.at AND v.account = p.account AND v.updater_id = p.updater_id LIMIT 1
    ) v
  )
  SELECT c.account, c.folder_id, c.updater_id, p.updater_name, c.edits::int,
    (c.edits / sum(c.edits) OVER folder)::float8, c.last_edit, count(*) OVER folder = 1
  FROM counted c JOIN people p ON p.account = c.account AND p.updater_id = c.updater_id
  WINDOW folder AS (PARTITION BY c.account, c.folder_id)
  ORDER BY count(*) OVER folder, c.account, c.folder_id, c.edits DESC, c.updater_id
$$;

COMMENT ON FUNCTION ferry.editors IS 'Who edited the alert rules of each folder since a time (null: 30 days ago), folders with the fewest editors first. edits: changes of rules that were known before; share: of all edits of the folder. only_editor: nobody else edited the folder in that time.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.edits_by_person(
  since timestamptz DEFAULT NULL, of_account text DEFAULT NULL, of_folder numeric(20, 0) DEFAULT NULL
) RETURNS TABLE (
  account text, updater_id numeric(20, 0), updater_name text, edits integer, folders integer, last_edit timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT e.account, e.updater_id, min(e.updater_name), sum(e.edits)::int, count(*)::int, max(e.last_edit)
  FROM ferry.editors($1) e
  WHERE ($2 IS NULL OR e.account = $2) AND ($3 IS NULL OR e.folder_id = $3)
  GROUP BY e.account, e.updater_id
  ORDER BY sum(e.edits) DESC, e.account, e.updater_id
$$;

COMMENT ON FUNCTION ferry.edits_by_person IS 'Who edited the most alert rules since a time (null: 30 days ago), of one account and in one folder if they are named. edits: changes of rules that were known before; folders: in how many folders they were.';
--> statement-breakpoint
-- `ended < 'infinity'` makes Postgres take the index by end: most episodes that began before a moment ended before it too.
-- In a blind stretch, what fired before it and what fires after it may both have been firing.
CREATE OR REPLACE FUNCTION ferry.firing_at(at timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, labels jsonb, enabled boolean, began timestamptz,
  ended timestamptz, fired_for interval, known boolean
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH blind AS MATERIALIZED (
    SELECT g.account, coalesce(g.since_applied, '-infinity') AS since, coalesce(g.applied_at, 'infinity') AS until
    FROM ferry_internal.readings_between($1, $1) g
    WHERE g.inventory = 'alert-rules' AND g.is_blind AND coalesce(g.since_applied, '-infinity') < $1 AND coalesce(g.applied_at, 'infinity') > $1
      AND ferry_internal.expect_history($1)
  ), firing AS MATERIALIZED (
    SELECT f.account, f.id, f.began, f.ended, true AS known FROM ferry.alert_rule_firings f
    WHERE f.began <= $1 AND f.ended > $1 AND f.ended < 'infinity' AND f.account <> ALL (ARRAY(SELECT b.account FROM blind b))
    UNION ALL
    SELECT f.account, f.id, f.began, NULL, true FROM ferry.alert_rule_firings f
    WHERE f.began <= $1 AND f.ended IS NULL AND f.account <> ALL (ARRAY(SELECT b.account FROM blind b))
    UNION ALL
    SELECT f.account, f.id, f.began, f.ended, false FROM blind b
    JOIN ferry.alert_rule_firings f ON f.account = b.account AND f.began <= b.until AND f.ended > b.since AND f.ended < 'infinity'
    UNION ALL
    SELECT f.account, f.id, f.began, NULL, false FROM blind b
    JOIN ferry.alert_rule_firings f ON f.account = b.account AND f.began <= b.until AND f.ended IS NULL
  )
  SELECT f.account, f.id, v.name, v.folder_id, v.team, v.labels, v.enabled, f.began, f.ended,
    CASE WHEN f.began <= $1 THEN $1 - f.began END, f.known
  FROM firing f
  CROSS JOIN LATERAL (
    SELECT v.name, v.folder_id, v.team, v.labels, v.enabled FROM ferry.alert_rule_versions v
    WHERE v.id = f.id AND v.account = f.account AND v.valid_from <= greatest($1, f.began) ORDER BY v.valid_from DESC LIMIT 1
  ) v
  WHERE ferry_internal.expect_history($1)
  ORDER BY f.began, f.account, f.id
$$;

COMMENT ON FUNCTION ferry.firing_at IS 'The alert rules that were firing at a moment, longest first: as they were then, with the whole episode as observed; fired_for: for how long by then. known is false where nothing complete was read for longer than the freshness target (see around, kind blind): then these fired before or after that time, and nobody knows of the moment itself. fired_for is null for a rule that was first seen firing after the moment. Raises an error if the history starts later.';
--> statement-breakpoint
-- How fresh each inventory is, of each account that was ever synced or that a worker is configured to sync. A listing is
-- complete if its run applied all of it (succeeded, or held), and counts if it is of the folders of the freshness target, or of all.
CREATE OR REPLACE VIEW ferry.freshness AS
  WITH judged AS (
    SELECT k.account, k.inventory, c.id, c.at, a.age, p.target, p.schedule,
      CASE WHEN c.at IS NULL THEN 'never' WHEN p.target IS NULL THEN 'no target'
        WHEN a.age > p.target OR a.age < interval '0' THEN 'late' ELSE 'fresh' END AS state
    FROM ferry.inventories k
    LEFT JOIN ferry.freshness_targets p ON p.account = k.account AND p.resource = k.inventory
    LEFT JOIN LATERAL (
      -- The newest by its id: after the clock was set back, older runs have later times.
      SELECT o.id, o.at FROM (
        (SELECT r.id, least(r.started_at, r.finished_at) AS at FROM ferry.sync_runs r
         WHERE r.account = k.account AND r.resource = k.inventory AND r.status IN ('succeeded', 'held')
           AND r.scope -> 'folders' = p.folders
         ORDER BY r.id DESC LIMIT 1)
        UNION ALL
        (SELECT r.id, least(r.started_at, r.finished_at) FROM ferry.sync_runs r
         WHERE r.account = k.account AND r.resource = k.inventory AND r.status IN ('succeeded', 'held')
           AND r.scope -> 'folders' = '["0"]'
         ORDER BY r.id DESC LIMIT 1)
        UNION ALL
        (SELECT r.id, least(r.started_at, r.finished_at) FROM ferry.sync_runs r
         WHERE r.account = k.account AND r.resource = k.inventory AND r.status IN ('succeeded', 'held')
           AND p.folders IS NULL
         ORDER BY r.id DESC LIMIT 1)
      ) o ORDER BY o.id DESC LIMIT 1
    ) c ON true
    CROSS JOIN LATERAL (SELECT clock_timestamp() - c.at AS age) a
  )
  SELECT j.account, j.inventory, j.at AS last_complete_at, j.id AS last_complete_run, j.age, j.target, j.state,
    CASE WHEN j.state NOT IN ('late', 'never') THEN NULL
      WHEN j.age < interval '0' THEN 'clock set back'
      WHEN EXISTS (SELECT FROM ferry.schedule_pauses s WHERE s.schedule = j.schedule AND s.account = j.account) THEN 'paused'
      ELSE coalesce(l.status, u.status, 'no run') END AS why_late,
    l.id AS last_failed_run, l.error_code, l.request_id
  FROM judged j
  -- What was tried since, and ended.
  LEFT JOIN LATERAL (
    SELECT r.id, r.status, r.error_code, r.request_id FROM ferry.sync_runs r
    WHERE r.account = j.account AND r.resource = j.inventory AND r.id > coalesce(j.id, 0)
      AND r.status IN ('failed', 'partial')
    ORDER BY r.id DESC LIMIT 1
  ) l ON j.state IN ('late', 'never')
  LEFT JOIN LATERAL (
    SELECT r.status FROM ferry.sync_runs r
    WHERE r.account = j.account AND r.resource = j.inventory AND r.id > coalesce(j.id, 0) AND r.finished_at IS NULL
    ORDER BY r.id DESC LIMIT 1
  ) u ON j.state IN ('late', 'never')
  ORDER BY j.account, j.inventory;

COMMENT ON VIEW ferry.freshness IS 'How fresh each inventory is: when it was last read completely, how old it may be, and why it is late.';
COMMENT ON COLUMN ferry.freshness.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.freshness.inventory IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.freshness.last_complete_at IS 'When Ferry began to read the last complete listing: the stored data is as the platform had it then, or later. Null if there has been none.';
COMMENT ON COLUMN ferry.freshness.last_complete_run IS 'The run (sync_runs.id) that applied it.';
COMMENT ON COLUMN ferry.freshness.age IS 'How long ago that was, by the clock of this database.';
COMMENT ON COLUMN ferry.freshness.target IS 'How old the inventory may be: three poll intervals; for MCP servers that are not polled, the interval of the nightly schedule and one hour. Null as long as no worker has run.';
COMMENT ON COLUMN ferry.freshness.state IS 'fresh; late: older than its freshness target; never: no complete listing so far; no target: no worker has run, so it is not known how old it may be.';
COMMENT ON COLUMN ferry.freshness.why_late IS 'Why it is late or never: failed, partial (the last run that ended since), running (the first run since has not ended), no run (none was tried since), paused (its schedule is), clock set back (the listing is later than now). Else null.';
COMMENT ON COLUMN ferry.freshness.last_failed_run IS 'The last run since that failed or was partial, if it is late or never.';
COMMENT ON COLUMN ferry.freshness.error_code IS 'The error code of that run.';
COMMENT ON COLUMN ferry.freshness.request_id IS 'The request_id of the call that failed that run, for the platform''s support.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.freshness_daily(since timestamptz DEFAULT NULL)
RETURNS TABLE (account text, inventory text, day date, minutes integer, fresh_minutes integer, share double precision)
LANGUAGE sql STABLE SET jit = off AS $$
  WITH late AS MATERIALIZED (
    SELECT b.account, b.inventory, b.late_from, coalesce(b.fresh_again_at, now()) AS fresh_again_at
    FROM ferry.blind_spots(coalesce($1, now() - interval '7 days')) b
  )
  SELECT d.account, d.inventory, d.day, round(d.seconds / 60)::integer, round((d.seconds - o.seconds) / 60)::integer,
    round(((d.seconds - o.seconds) / d.seconds)::numeric, 6)::double precision
  FROM (
    SELECT i.account, i.inventory, n.day::date AS day, b."from", b."to",
      extract(epoch FROM b."to" - b."from")::double precision AS seconds
    FROM ferry.inventories i
    JOIN ferry.freshness_targets p ON p.account = i.account AND p.resource = i.inventory
    -- From the first complete listing on.
    CROSS JOIN LATERAL (
      SELECT o.finished_at FROM (
        (SELECT r.id, r.finished_at FROM ferry_internal.complete_runs r
         WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders = p.folders
         ORDER BY r.id LIMIT 1)
        UNION ALL
        (SELECT r.id, r.finished_at FROM ferry_internal.complete_runs r
         WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders = '["0"]'
         ORDER BY r.id LIMIT 1)
      ) o ORDER BY o.id LIMIT 1
    ) f
    CROSS JOIN LATERAL (
      SELECT greatest(coalesce($1, now() - interval '7 days'), now() - p.runs_kept, f.finished_at) AS since
    ) s
    CROSS JOIN LATERAL generate_series(
      date_trunc('day', s.since AT TIME ZONE p.timezone), now() AT TIME ZONE p.timezone, interval '1 day') n (day)
    CROSS JOIN LATERAL (
      SELECT greatest(n.day AT TIME ZONE p.timezone, s.since) AS "from",
        least((n.day + interval '1 day') AT TIME ZONE p.timezone, now()) AS "to"
    ) b
    WHERE b."to" > b."from"
  ) d
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(extract(epoch FROM least(l.fresh_again_at, d."to") - greatest(l.late_from, d."from"))), 0)
      ::double precision AS seconds
    FROM late l
    WHERE l.account = d.account AND l.inventory = d.inventory AND l.late_from < d."to" AND l.fresh_again_at > d."from"
  ) o
  ORDER BY d.day DESC, d.account, d.inventory
$$;

COMMENT ON FUNCTION ferry.freshness_daily IS 'For how much of each day each inventory was within its freshness target: account, inventory, day (in FERRY_TIMEZONE), minutes that are over, fresh_minutes, and share of them. A day begins with the first complete listing, and today ends now. Since: 7 days ago by default.';
--> statement-breakpoint
-- Each edit counts the edits of the same person in the hour that it begins; where there are enough, hours that overlap
-- are one row.
CREATE OR REPLACE FUNCTION ferry.mass_edits(since timestamptz DEFAULT NULL, at_least integer DEFAULT 20)
RETURNS TABLE (
  account text, updater_id numeric(20, 0), updater_name text, began timestamptz, ended timestamptz, rules integer, edits integer,
  folders integer
) LANGUAGE sql STABLE SET jit = off SET enable_mergejoin = off SET enable_nestloop = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH edits AS MATERIALIZED (
    SELECT e.* FROM ferry_internal.rule_edits(coalesce($1, now() - interval '7 days')) e
  ), instants AS (
    SELECT e.account, e.updater_id, e.edited_at, count(*) AS edits FROM edits e GROUP BY e.account, e.updater_id, e.edited_at
  ), hours AS (
    SELECT i.account, i.updater_id, i.edited_at,
      sum(i.edits) OVER (PARTITION BY i.account, i.updater_id ORDER BY i.edited_at
        RANGE BETWEEN CURRENT ROW AND interval '1 hour' FOLLOWING) AS edits
    FROM instants i
  ), chained AS (
    SELECT h.account, h.updater_id, h.edited_at,
      h.edited_at - lag(h.edited_at) OVER (PARTITION BY h.account, h.updater_id ORDER BY h.edited_at) > interval '1 hour' AS is_new
    FROM hours h WHERE h.edits >= $2
  ), numbered AS (
    SELECT c.*, count(*) FILTER (WHERE c.is_new) OVER (PARTITION BY c.account, c.updater_id ORDER BY c.edited_at) AS burst
    FROM chained c
  ), bursts AS MATERIALIZED (
    SELECT n.account, n.updater_id, min(n.edited_at) AS began, max(n.edited_at) + interval '1 hour' AS until
    FROM numbered n GROUP BY n.account, n.updater_id, n.burst
  ), counted AS (
    SELECT b.account, b.updater_id, b.began, max(e.edited_at) AS ended, count(DISTINCT e.id) AS rules, count(*) AS edits,
      count(DISTINCT e.folder_id) AS folders, max(e.id) FILTER (WHERE e.edited_at = b.began) AS first_rule
    FROM bursts b
    JOIN edits e ON e.account = b.account AND e.updater_id = b.updater_id AND e.edited_at BETWEEN b.began AND b.until
    GROUP BY b.account, b.updater_id, b.began
  )
  SELECT c.account, c.updater_id, v.updater_name, c.began, c.ended, c.rules::int, c.edits::int, c.folders::int
  FROM counted c
  JOIN ferry.alert_rule_versions v ON v.id = c.first_rule AND v.account = c.account AND v.valid_from = c.began
  WHERE c.rules >= $2
  ORDER BY c.rules DESC, c.began, c.account, c.updater_id
$$;

COMMENT ON FUNCTION ferry.mass_edits IS 'Who edited many alert rules within an hour, since a time (null: seven days ago), the most rules first. One row lasts as long as at_least rules (20 by default) are edited in every hour of it; began and ended are the first and the last edit, as observed.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_servers_of_night(night date)
RETURNS TABLE (
  account text, server_id text, server_name text, team_id numeric(20, 0), status text, auth_mode text, tools jsonb, valid_from timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT s.account, s.server_id, s.server_name, s.team_id, s.status, s.auth_mode, s.tools, s.valid_from
  FROM ferry.snapshots_of_night($1) n CROSS JOIN LATERAL ferry.mcp_servers_as_of(n.taken_at) s
  WHERE s.account = n.account
$$;

COMMENT ON FUNCTION ferry.mcp_servers_of_night IS 'The MCP servers as each account''s snapshot of a night shows them, see ferry.nights; none of an account that has no snapshot of that night. Raises an error if the history starts later.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_tools_of_night(night date)
RETURNS TABLE (
  account text, tool text, server_id text, server_name text, team_id numeric(20, 0), status text, description text, servers integer
) LANGUAGE sql STABLE AS $$
  SELECT s.account, t.tool ->> 'name' AS tool, s.server_id, s.server_name, s.team_id, s.status, t.tool ->> 'description',
    (count(*) OVER same_name)::int
  FROM ferry.mcp_servers_of_night($1) s CROSS JOIN LATERAL jsonb_array_elements(s.tools) WITH ORDINALITY AS t (tool, position)
  WINDOW same_name AS (PARTITION BY s.account, t.tool ->> 'name')
  ORDER BY s.account, t.tool ->> 'name', s.server_name, s.server_id, t.position
$$;

COMMENT ON FUNCTION ferry.mcp_tools_of_night IS 'The view mcp_tools, as the snapshots of a night show it.';
--> statement-breakpoint
-- One run at a time: what it observed bears its instant, in indexes. OFFSET 0 keeps the views inside; joined, they would be read whole.
-- seen_in is the folder whose listing had the row before.
CREATE OR REPLACE FUNCTION ferry_internal.observed_by(runs bigint[])
RETURNS TABLE (
  run_id bigint, account text, inventory text, observed_at timestamptz, kind text, id text, name text, folder_id numeric(20, 0),
  team text, labels jsonb, who text, before jsonb, after jsonb, while_firing boolean, seen_in numeric(20, 0)
) LANGUAGE sql STABLE AS $$
  WITH asked AS MATERIALIZED (
    SELECT r.id, r.account, r.resource, r.applied_at, r.added + r.changed + r.removed AS changes, r.fired + r.recovered AS firings
    FROM ferry.sync_runs r WHERE r.id = ANY ($1) AND r.applied_at IS NOT NULL
  )
  SELECT r.id, r.account, r.resource, r.applied_at, 'rule.' || CASE
      WHEN c.change = 'changed' AND c.before ->> 'enabled' = 'true' AND c.after ->> 'enabled' = 'false' THEN 'disabled'
      WHEN c.change = 'changed' AND c.before ->> 'enabled' = 'false' AND c.after ->> 'enabled' = 'true' THEN 'enabled'
      ELSE c.change END,
    c.id::text, c.name, v.folder_id, v.team, v.labels, c.updater_name, c.before, c.after, coalesce(f.is_firing, false),
    coalesce((c.before ->> 'folder_id')::numeric, v.folder_id)
  FROM asked r
  CROSS JOIN LATERAL (
    SELECT * FROM ferry.alert_rule_changes c WHERE c.observed_at = r.applied_at AND c.account = r.account AND NOT c.first_reading OFFSET 0
  ) c
  CROSS JOIN LATERAL (
    SELECT v.folder_id, v.team, v.labels FROM ferry.alert_rule_versions v
    WHERE v.id = c.id AND v.account = c.account AND v.valid_from <= r.applied_at ORDER BY v.valid_from DESC LIMIT 1
  ) v
  LEFT JOIN LATERAL (
    -- What fires in the reading that observed the edit may have begun after it.
    SELECT coalesce(e.ended, 'infinity') >= r.applied_at AS is_firing
    FROM ferry.alert_rule_firings e
    WHERE e.id = c.id AND e.account = c.account AND e.began <= r.applied_at
      AND (e.began < r.applied_at OR c.change IN ('added', 'returned'))
    ORDER BY e.began DESC LIMIT 1
  ) f ON true
  WHERE r.resource = 'alert-rules' AND r.changes > 0
  UNION ALL
  SELECT r.id, r.account, r.resource, r.applied_at, e.kind, e.id::text, v.name, v.folder_id, v.team, v.labels, NULL, NULL, NULL, NULL, v.folder_id
  FROM asked r
  CROSS JOIN LATERAL (
    SELECT 'rule.fired' AS kind, e.id FROM ferry_internal.episodes(r.applied_at - interval '1 microsecond') e
    WHERE e.began = r.applied_at AND e.account = r.account AND e.began_seen
    UNION ALL
    SELECT 'rule.cleared', e.id FROM ferry_internal.episodes(r.applied_at - interval '1 microsecond') e
    WHERE e.ended = r.applied_at AND e.account = r.account AND e.was_cleared
    OFFSET 0
  ) e
  CROSS JOIN LATERAL (
    SELECT v.name, v.folder_id, v.team, v.labels FROM ferry.alert_rule_versions v
    WHERE v.id = e.id AND v.account = r.account AND v.valid_from <= r.applied_at ORDER BY v.valid_from DESC LIMIT 1
  ) v
  WHERE r.resource = 'alert-rules' AND r.firings > 0
  UNION ALL
  SELECT r.id, r.account, r.resource, r.applied_at, 'server.' || c.change, c.server_id, c.server_name, NULL, NULL, NULL, NULL,
    c.before, c.after, NULL, NULL
  FROM asked r
  CROSS JOIN LATERAL (
    SELECT * FROM ferry.mcp_server_changes c WHERE c.observed_at = r.applied_at AND c.account = r.account AND NOT c.first_reading OFFSET 0
  ) c
  WHERE r.resource = 'mcp-servers' AND r.changes > 0
  UNION ALL
  SELECT r.id, r.account, r.resource, r.applied_at, 'tool.' || replace(t.change, 'description ', ''), t.server_id, t.server_name, NULL, NULL, NULL,
    NULL,
    CASE WHEN t.change <> 'added' THEN jsonb_build_object('tool', t.tool, 'description', t.before) END,
    CASE WHEN t.change <> 'removed' THEN jsonb_build_object('tool', t.tool, 'description', t.after) END, NULL, NULL
  FROM asked r
  CROSS JOIN LATERAL (
    SELECT * FROM ferry.mcp_tool_changes(r.applied_at, r.applied_at) t WHERE t.account = r.account OFFSET 0
  ) t
  WHERE r.resource = 'mcp-servers' AND r.changes > 0
$$;

COMMENT ON FUNCTION ferry_internal.observed_by IS 'What these runs (sync_runs.id) observed: changes of rules, servers and tools, and rules that began to fire or cleared; not what a first reading found. For around.';
--> statement-breakpoint
-- The costs are those of alert_rules_of_night. Its rows are counted as they come: sorting them takes twice as long.
CREATE OR REPLACE FUNCTION ferry.rules_by_folder_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), rules integer, enabled integer, disabled integer, firing integer,
  debug_log_enabled integer, unowned integer
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_sort = off SET work_mem = '32MB' AS $$
  SELECT v.account, v.folder_id, count(*)::int AS rules, (count(*) FILTER (WHERE v.enabled))::int,
    (count(*) FILTER (WHERE NOT v.enabled))::int, (count(*) FILTER (WHERE v.triggered))::int,
    (count(*) FILTER (WHERE v.debug_log_enabled))::int, (count(*) FILTER (WHERE v.team IS NULL))::int
  FROM ferry.alert_rules_of_night($1) v
  GROUP BY v.account, v.folder_id
  ORDER BY rules DESC, v.account, v.folder_id
$$;

COMMENT ON FUNCTION ferry.rules_by_folder_of_night IS 'The view rules_by_folder, as the snapshots of a night show it.';
--> statement-breakpoint
-- The costs are those of alert_rules_of_night. Its rows are counted as they come: sorting them takes twice as long.
CREATE OR REPLACE FUNCTION ferry.rules_by_team_of_night(night date)
RETURNS TABLE (
  account text, team text, rules integer, enabled integer, disabled integer, firing integer, debug_log_enabled integer, folders integer
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_sort = off SET work_mem = '32MB' AS $$
  SELECT c.account, c.team, sum(c.rules)::int AS rules, sum(c.enabled)::int, (sum(c.rules) - sum(c.enabled))::int,
    sum(c.firing)::int, sum(c.debug_log_enabled)::int, count(*)::int
  FROM (
    SELECT v.account, v.team, v.folder_id, count(*) AS rules, count(*) FILTER (WHERE v.enabled) AS enabled,
      count(*) FILTER (WHERE v.triggered) AS firing, count(*) FILTER (WHERE v.debug_log_enabled) AS debug_log_enabled
    FROM ferry.alert_rules_of_night($1) v
    GROUP BY v.account, v.team, v.folder_id
  ) c
  GROUP BY c.account, c.team
  ORDER BY rules DESC, c.account, c.team
$$;

COMMENT ON FUNCTION ferry.rules_by_team_of_night IS 'The view rules_by_team, as the snapshots of a night show it.';
--> statement-breakpoint
-- The episode before the first one of the period is looked up if it can be near enough. Names and nights are looked up only for the
-- rules that are returned.
CREATE OR REPLACE FUNCTION ferry.rules_noisy(
  since timestamptz DEFAULT NULL, flap_within interval DEFAULT '10 minutes', day_begins time DEFAULT '07:00',
  day_ends time DEFAULT '22:00', at_most integer DEFAULT NULL, of_account text DEFAULT NULL
) RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, episodes integer,
  hours double precision, flaps integer, night_share double precision, last_began timestamptz, firing boolean, in_all integer
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH known AS MATERIALIZED (
    -- Once for each: what is inlined is looked up as often as it is named.
    SELECT e.account, e.id, e.began, e.ended, e.began_seen, lag(e.ended) OVER (PARTITION BY e.id, e.account ORDER BY e.began) AS ended_before
    FROM ferry_internal.episodes(coalesce($1, now() - interval '7 days')) e
    WHERE $6 IS NULL OR e.account = $6
  ), counted AS (
    SELECT e.account, e.id, count(*) FILTER (WHERE e.began_seen) AS episodes,
      -- A clock that was set back must not make it negative.
      sum(greatest(coalesce(e.ended, now()) - greatest(e.began, coalesce($1, now() - interval '7 days')), interval '0')) AS fired_for,
      count(*) FILTER (WHERE e.began_seen AND e.began - coalesce(e.ended_before, b.ended) <= $2) AS flaps,
      array_agg(e.began) FILTER (WHERE e.began_seen) AS begins, max(e.began) FILTER (WHERE e.began_seen) AS last_began,
      bool_or(e.ended IS NULL) AS firing, count(*) OVER () AS in_all
    FROM known e
    LEFT JOIN LATERAL (
      SELECT p.ended FROM ferry.alert_rule_firings p
      WHERE p.id = e.id AND p.account = e.account AND p.began < e.began
        -- As a condition of the join, it would be asked after the look.
        AND e.ended_before IS NULL AND e.began - $2 <= coalesce($1, now() - interval '7 days')
      ORDER BY p.began DESC LIMIT 1
    ) b ON true
    GROUP BY e.id, e.account
    HAVING bool_or(e.began_seen)
    ORDER BY episodes DESC, fired_for DESC, e.account, e.id LIMIT $5
  ), rules AS MATERIALIZED (
    SELECT c.*, v.name, v.folder_id, v.team, coalesce(v.timezone, '') AS timezone
    FROM counted c
    CROSS JOIN LATERAL (
      SELECT v.name, v.folder_id, v.team, v.timezone FROM ferry.alert_rule_versions v
      WHERE v.id = c.id AND v.account = c.account ORDER BY v.valid_from DESC LIMIT 1
    ) v
  ), zones AS MATERIALIZED (
    SELECT z.timezone, ferry_internal.zone_of(z.timezone) AS zone FROM (SELECT DISTINCT r.timezone FROM rules r) z
  )
  SELECT r.account, r.id, r.name, r.folder_id, r.team, r.episodes::int, (extract(epoch FROM r.fired_for) / 3600)::float8, r.flaps::int,
    n.at_night / r.episodes::float8, r.last_began, r.firing, r.in_all::int
  FROM rules r
  JOIN zones z USING (timezone)
  CROSS JOIN LATERAL (
    SELECT count(*) AS at_night FROM unnest(r.begins) AS began
    WHERE (began AT TIME ZONE z.zone)::time < $3 OR (began AT TIME ZONE z.zone)::time >= $4
  ) n
  ORDER BY r.episodes DESC, r.fired_for DESC, r.account, r.id
$$;

COMMENT ON FUNCTION ferry.rules_noisy IS 'The alert rules that fired since a time (null: seven days ago), most episodes first: at most this many (null: all), of one account if it is named; in_all says how many there are. An episode that was not seen to begin (a first reading found the rule firing, or it appeared so) counts only in hours, and a rule with no other is left out. hours: how long they fired in that time. flaps: episodes that began at most flap_within after the one before had ended. night_share: the share of episodes that began before day_begins or from day_ends on, in the rule''s own time zone (Asia/Shanghai if it has none).';
--> statement-breakpoint
-- The costs are those of alert_rules_of_night.
CREATE OR REPLACE FUNCTION ferry.rules_unowned_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), id numeric(20, 0), name text, enabled boolean, labels jsonb, creator_name text, updater_name text
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 AS $$
  SELECT v.account, v.folder_id, v.id, v.name, v.enabled, v.labels, v.creator_name, v.updater_name
  FROM ferry.alert_rules_of_night($1) v
  WHERE v.team IS NULL
  ORDER BY v.account, v.folder_id, v.name, v.id
$$;

COMMENT ON FUNCTION ferry.rules_unowned_of_night IS 'The view rules_unowned, as the snapshots of a night show it.';
--> statement-breakpoint
-- What is observed by a reading happened after the reading before it: both ends are shown, and a row belongs to each span that
-- it may have happened in, up to what the first complete reading after the span observed. Only runs that observed something are
-- looked at, so an hour costs what it holds.
CREATE OR REPLACE FUNCTION ferry.around(at timestamptz, span interval DEFAULT '1 hour')
RETURNS TABLE (
  since timestamptz, observed_at timestamptz, kind text, account text, inventory text, id text, name text, folder_id numeric(20, 0),
  team text, labels jsonb, who text, before jsonb, after jsonb, while_firing boolean, run_id bigint
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH readings AS MATERIALIZED (
    SELECT g.* FROM ferry_internal.readings_between($1 - $2, $1 + $2) g WHERE ferry_internal.expect_history($1 - $2)
  ), runs AS MATERIALIZED (
    SELECT r.* FROM (
      SELECT g.account, g.inventory, min(coalesce(g.since_run, 0)) AS first, max(coalesce(g.run_id, 9223372036854775807)) AS last
      FROM readings g GROUP BY g.account, g.inventory
    ) i
    CROSS JOIN LATERAL (
      SELECT r.id, r.account, r.resource, r.started_at, r.applied_at, r.first_read, r.status FROM ferry.sync_runs r
      WHERE r.account = i.account AND r.resource = i.inventory AND r.id BETWEEN i.first AND i.last
        AND (r.added + r.changed + r.removed + r.fired + r.recovered > 0 OR r.status = 'held')
        -- Not by the index of instants: it has the runs of all later times.
        AND coalesce(r.applied_at, '-infinity') >= $1 - $2
      OFFSET 0
    ) r
  ), observed AS MATERIALIZED (
    SELECT o.*, coalesce(u.first_run, o.run_id) AS unseen_from
    FROM ferry_internal.observed_by(ARRAY(SELECT r.id FROM runs r)) o
    LEFT JOIN ferry_internal.unseen_since(ARRAY(SELECT r.id FROM runs r)) u ON u.run_id = o.run_id AND u.id = o.id
  ), covered AS MATERIALIZED (
    SELECT * FROM ferry_internal.covered_since(ARRAY(
      SELECT o.unseen_from FROM observed o UNION SELECT r.id FROM runs r WHERE r.status = 'held'))
  ), begun AS MATERIALIZED (
    SELECT p.unseen_from, p.seen_in, l.since, l.absent_since
    FROM (SELECT DISTINCT o.unseen_from, o.seen_in FROM observed o) p
    CROSS JOIN LATERAL (
      SELECT max(c.since) AS since, max(c.absent_since) AS absent_since FROM covered c
      WHERE c.run_id = p.unseen_from AND (p.seen_in IS NULL OR c.folders ? '0' OR c.folders ? p.seen_in::text)
    ) l
  )
  SELECT e.* FROM (
    SELECT CASE WHEN o.kind IN ('rule.removed', 'server.removed') OR o.before ? 'folder_id' THEN b.absent_since ELSE b.since END, o.observed_at, o.kind, o.account, o.inventory, o.id, o.name, o.folder_id, o.team, o.labels, o.who, o.before, o.after,
      o.while_firing, o.run_id
    FROM observed o
    JOIN begun b ON b.unseen_from = o.unseen_from AND b.seen_in IS NOT DISTINCT FROM o.seen_in
    UNION ALL
    SELECT r.started_at, r.applied_at, 'inventory.first_read', r.account, r.resource, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      jsonb_build_object('rows', r.first_read), NULL, r.id
    FROM runs r WHERE r.first_read > 0
    UNION ALL
    SELECT (SELECT max(c.absent_since) FROM covered c WHERE c.run_id = r.id AND (r.resource = 'mcp-servers' OR c.folders ? '0')),
      r.applied_at, 'removals.held', r.account, r.resource, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      jsonb_build_object('rows', count(*)), NULL, r.id
    FROM runs r
    JOIN ferry.removal_holds o ON o.account = r.account AND o.resource = r.resource AND r.id BETWEEN o.opened_by_run AND o.last_run
    CROSS JOIN LATERAL unnest(o.ids, o.since_runs) h (id, since_run)
    WHERE r.status = 'held' AND h.since_run = r.id
    GROUP BY r.id, r.applied_at, r.account, r.resource
    UNION ALL
    SELECT g.since_applied, g.applied_at, 'blind', g.account, g.inventory, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      (SELECT jsonb_build_object('error_code', r.error_code) FROM ferry.sync_runs r
       WHERE r.account = g.account AND r.resource = g.inventory AND r.id > coalesce(g.since_run, 0)
         AND r.id < coalesce(g.run_id, 9223372036854775807) AND r.status IN ('failed', 'partial')
       ORDER BY r.id DESC LIMIT 1), NULL, g.run_id
    FROM readings g WHERE g.is_blind
    UNION ALL
    SELECT a.at, a.at, 'decision', a.account, NULL, a.subject_id, a.action || ' ' || a.subject_kind, NULL, NULL, NULL, a.actor, NULL,
      jsonb_build_object('because', a.because), NULL, NULL
    FROM ferry.audit a WHERE a.at BETWEEN $1 - $2 AND $1 + $2
    UNION ALL
    SELECT i.started_at, i.started_at, 'import.started', i.account, NULL, i.id::text, i.file, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM ferry.imports i WHERE i.started_at BETWEEN $1 - $2 AND $1 + $2
    UNION ALL
    SELECT i.finished_at, i.finished_at, 'import.ended', i.account, NULL, i.id::text, i.file, NULL, NULL, NULL, NULL, NULL,
      jsonb_build_object('status', i.status), NULL, NULL
    FROM ferry.imports i WHERE i.finished_at BETWEEN $1 - $2 AND $1 + $2
  ) e
  WHERE coalesce(e.since, '-infinity') <= $1 + $2 AND coalesce(e.observed_at, 'infinity') >= $1 - $2
    -- What happened after the end of the span is not in it; what was done at its end is.
    AND (e.since IS DISTINCT FROM $1 + $2 OR e.observed_at = e.since)
  ORDER BY e.observed_at NULLS LAST, e.kind <> 'blind', e.account, e.inventory, e.kind, e.id
$$;

COMMENT ON FUNCTION ferry.around IS 'What happened around a moment, an hour before and after by default, in the order in which it was observed. Each row happened after since and not later than observed_at; since is null if nobody knows since when it may have. kind: rule.added, rule.changed, rule.disabled, rule.enabled, rule.removed, rule.returned, rule.fired, rule.cleared; server.added, server.changed, server.removed, server.returned; tool.added, tool.removed, tool.changed; decision (of a person, see audit); import.started, import.ended; inventory.first_read and removals.held (rows in after; what is held is removed later, or not at all); blind: nothing complete was read from since to observed_at (null: to this day) for longer than the freshness target, so nothing is known of that time. while_firing: a rule was changed while it fired. before and after: the fields that differ. Raises an error if the history starts later.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_by_team_of_night(night date)
RETURNS TABLE (
  account text, team_id numeric(20, 0), servers integer, enabled integer, tools integer, shared integer, last_change timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT s.account, s.team_id, count(*)::int AS servers, (count(*) FILTER (WHERE s.status = 'enabled'))::int,
    sum(jsonb_array_length(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END))::int,
    (count(*) FILTER (WHERE s.auth_mode = 'shared'))::int, max(s.valid_from)
  FROM ferry.mcp_servers_of_night($1) s
  GROUP BY s.account, s.team_id
  ORDER BY servers DESC, s.account, s.team_id
$$;

COMMENT ON FUNCTION ferry.mcp_by_team_of_night IS 'The view mcp_by_team, as the snapshots of a night show it.';
