CREATE SCHEMA IF NOT EXISTS "ferry";
--> statement-breakpoint
CREATE TABLE "ferry"."alert_rule_firings" (
	"account" text NOT NULL,
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
	"account" text NOT NULL,
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
	CONSTRAINT "alert_rule_versions_id_account_valid_from_pk" PRIMARY KEY("id","account","valid_from"),
	CONSTRAINT "alert_rule_versions_interval" CHECK ("ferry"."alert_rule_versions"."valid_to" > "ferry"."alert_rule_versions"."valid_from")
);
--> statement-breakpoint
CREATE TABLE "ferry"."contract_drift" (
	"account" text NOT NULL,
	"resource" text NOT NULL,
	"field" text NOT NULL,
	"type" text NOT NULL,
	"first_run" bigint NOT NULL,
	"first_seen_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "contract_drift_account_resource_field_type_pk" PRIMARY KEY("account","resource","field","type")
);
--> statement-breakpoint
CREATE TABLE "ferry"."installation" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "installation_has_one_row" CHECK ("ferry"."installation"."only")
);
--> statement-breakpoint
CREATE TABLE "ferry"."leases" (
	"name" text PRIMARY KEY NOT NULL,
	"token" uuid NOT NULL,
	"holder" text NOT NULL,
	"acquired_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ferry"."mcp_server_versions" (
	"account" text NOT NULL,
	"server_id" text NOT NULL,
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
	CONSTRAINT "mcp_server_versions_server_id_account_valid_from_pk" PRIMARY KEY("server_id","account","valid_from"),
	CONSTRAINT "mcp_server_versions_interval" CHECK ("ferry"."mcp_server_versions"."valid_to" > "ferry"."mcp_server_versions"."valid_from")
);
--> statement-breakpoint
CREATE TABLE "ferry"."platform_accounts" (
	"account" text NOT NULL,
	"account_id" numeric(20, 0) NOT NULL,
	"first_run" bigint NOT NULL,
	CONSTRAINT "platform_accounts_account_account_id_pk" PRIMARY KEY("account","account_id")
);
--> statement-breakpoint
CREATE TABLE "ferry"."platform_calls" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."platform_calls_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"limit_key" text NOT NULL,
	"account" text NOT NULL,
	"operation" text NOT NULL,
	"started" timestamp with time zone NOT NULL,
	"counted_by" timestamp with time zone NOT NULL,
	"finished" timestamp with time zone,
	"http_status" integer,
	"error_code" text,
	"request_id" text,
	"run_id" bigint
);
--> statement-breakpoint
CREATE TABLE "ferry"."platform_limits" (
	"limit_key" text NOT NULL,
	"operation" text NOT NULL,
	"blocked_until" timestamp with time zone,
	"strikes" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "platform_limits_limit_key_operation_pk" PRIMARY KEY("limit_key","operation")
);
--> statement-breakpoint
CREATE TABLE "ferry"."quarantined_rows" (
	"run_id" bigint NOT NULL,
	"position" integer NOT NULL,
	"id" text,
	"reason" text NOT NULL,
	"raw" jsonb,
	CONSTRAINT "quarantined_rows_run_id_position_pk" PRIMARY KEY("run_id","position")
);
--> statement-breakpoint
CREATE TABLE "ferry"."removal_holds" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."removal_holds_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" text NOT NULL,
	"resource" text NOT NULL,
	"opened_by_run" bigint NOT NULL,
	"last_run" bigint NOT NULL,
	"ids" text[] NOT NULL,
	"opened_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"ended_at" timestamp with time zone,
	"outcome" text
);
--> statement-breakpoint
CREATE TABLE "ferry"."schedule_pauses" (
	"schedule" text NOT NULL,
	"account" text NOT NULL,
	"paused_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "schedule_pauses_schedule_account_pk" PRIMARY KEY("schedule","account")
);
--> statement-breakpoint
CREATE TABLE "ferry"."schedule_slots" (
	"account" text NOT NULL,
	"schedule" text NOT NULL,
	"slot" timestamp with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp with time zone,
	"done_at" timestamp with time zone,
	"outcome" text,
	CONSTRAINT "schedule_slots_account_schedule_slot_pk" PRIMARY KEY("account","schedule","slot")
);
--> statement-breakpoint
CREATE TABLE "ferry"."snapshots" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."snapshots_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" text NOT NULL,
	"slot" timestamp with time zone,
	"taken_at" timestamp with time zone NOT NULL,
	"status" text NOT NULL,
	"alert_rules_run" bigint NOT NULL,
	"mcp_servers_run" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ferry"."sync_runs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."sync_runs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" text NOT NULL,
	"resource" text NOT NULL,
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
	"data_hashes" text[],
	"error_code" text,
	"request_id" text,
	"message" text,
	"lease_token" uuid
);
--> statement-breakpoint
CREATE UNIQUE INDEX "alert_rule_firings_open" ON "ferry"."alert_rule_firings" USING btree ("id","account") WHERE "ferry"."alert_rule_firings"."ended" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "alert_rule_versions_current" ON "ferry"."alert_rule_versions" USING btree ("id","account") INCLUDE ("fingerprint","folder_id") WHERE "ferry"."alert_rule_versions"."valid_to" is null;--> statement-breakpoint
CREATE INDEX "alert_rule_versions_by_folder" ON "ferry"."alert_rule_versions" USING btree ("folder_id","valid_from",coalesce("valid_to", 'infinity'));--> statement-breakpoint
CREATE UNIQUE INDEX "mcp_server_versions_current" ON "ferry"."mcp_server_versions" USING btree ("server_id","account") INCLUDE ("fingerprint") WHERE "ferry"."mcp_server_versions"."valid_to" is null;--> statement-breakpoint
CREATE INDEX "platform_calls_in_window" ON "ferry"."platform_calls" USING btree ("limit_key","operation","counted_by");--> statement-breakpoint
CREATE INDEX "platform_calls_by_run" ON "ferry"."platform_calls" USING btree ("run_id");--> statement-breakpoint
CREATE UNIQUE INDEX "removal_holds_open" ON "ferry"."removal_holds" USING btree ("account","resource") WHERE "ferry"."removal_holds"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "schedule_slots_unfinished" ON "ferry"."schedule_slots" USING btree ("slot") WHERE "ferry"."schedule_slots"."done_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "snapshots_one_per_slot" ON "ferry"."snapshots" USING btree ("account","slot");--> statement-breakpoint
CREATE INDEX "snapshots_by_time" ON "ferry"."snapshots" USING btree ("account","taken_at");--> statement-breakpoint
CREATE INDEX "sync_runs_by_resource" ON "ferry"."sync_runs" USING btree ("account","resource","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "sync_runs_unfinished" ON "ferry"."sync_runs" USING btree ("id") WHERE "ferry"."sync_runs"."finished_at" is null;