-- What changed since an instant is asked of the history from its young end, whatever its length.
CREATE INDEX "alert_rule_versions_by_start" ON "ferry"."alert_rule_versions" USING btree ("valid_from");--> statement-breakpoint
CREATE INDEX "alert_rule_versions_by_end" ON "ferry"."alert_rule_versions" USING btree ("valid_to") WHERE "ferry"."alert_rule_versions"."valid_to" is not null;--> statement-breakpoint
CREATE INDEX "mcp_server_versions_by_start" ON "ferry"."mcp_server_versions" USING btree ("valid_from");--> statement-breakpoint
CREATE INDEX "mcp_server_versions_by_end" ON "ferry"."mcp_server_versions" USING btree ("valid_to") WHERE "ferry"."mcp_server_versions"."valid_to" is not null;
--> statement-breakpoint
ALTER TABLE "ferry"."removal_holds" ADD COLUMN "rejected_by" text;--> statement-breakpoint
ALTER TABLE "ferry"."removal_holds" ADD COLUMN "rejected_ids" text[];
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.outcome IS 'How it ended: approved (they were removed), voided (a later complete listing decided) or rejected (a person said that they are not gone).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.rejected_by IS 'Who rejected it: user and host.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.rejected_ids IS 'Of a rejected hold, the ids that are kept although they are still absent. Each complete listing takes out those it has again.';
