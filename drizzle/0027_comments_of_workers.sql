COMMENT ON TABLE ferry.workers IS 'Which workers there are. Each writes its row every 30 s and removes it when it ends. A row that was not written for 90 s is of a worker that died, or does not reach this database; it is removed after a day.';--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.holder IS 'The name of the worker, as leases have it (leases.holder).';--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.host IS 'The machine or container it runs on.';--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.pid IS 'The number of its process there.';--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.version IS 'Its version of Ferry.';--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.started_at IS 'Since when it works.';--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.seen_at IS 'When it last wrote this row, by the clock of this database.';
