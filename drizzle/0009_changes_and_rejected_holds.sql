-- What changed since an instant is asked of the history from its young end, whatever its length.
CREATE INDEX "alert_rule_versions_by_start" ON "ferry"."alert_rule_versions" USING btree ("valid_from");--> statement-breakpoint
CREATE INDEX "alert_rule_versions_by_end" ON "ferry"."alert_rule_versions" USING btree ("valid_to") WHERE "ferry"."alert_rule_versions"."valid_to" is not null;--> statement-breakpoint
CREATE INDEX "mcp_server_versions_by_start" ON "ferry"."mcp_server_versions" USING btree ("valid_from");--> statement-breakpoint
CREATE INDEX "mcp_server_versions_by_end" ON "ferry"."mcp_server_versions" USING btree ("valid_to") WHERE "ferry"."mcp_server_versions"."valid_to" is not null;
