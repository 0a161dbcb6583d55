COMMENT ON TABLE ferry.history IS 'From when on the history is complete. No row for as long as no version or firing was removed for its age.';--> statement-breakpoint
COMMENT ON COLUMN ferry.history.only IS 'Always true: there is at most one row.';--> statement-breakpoint
COMMENT ON COLUMN ferry.history.starts_at IS 'Versions and firings that ended before may have been removed.';--> statement-breakpoint
COMMENT ON TABLE ferry.platform_calls IS 'The call log: one row for every request to the platform. It is the audit trail, and the sliding window that keeps Ferry under the platform''s limits. Kept for FERRY_KEEP_CALLS; calls of imports for ever.';--> statement-breakpoint
COMMENT ON TABLE ferry.sync_runs IS 'The ledger: one row for every attempt to read an inventory, whatever its outcome. A run that changed nothing is kept for FERRY_KEEP_RUNS.';
