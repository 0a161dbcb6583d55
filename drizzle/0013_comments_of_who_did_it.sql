COMMENT ON TABLE ferry.audit IS 'What people did by hand: one row for each decision and each run they asked for, written in the transaction that did it. Kept for ever.';--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.id IS 'The number of the act. A later act has a higher one.';--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.at IS 'When it was done.';--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.account IS 'The account it concerns; * for all accounts.';--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.actor IS 'Who did it: the name given with the command, else user@host.';--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.action IS 'What was done, in the words of the commands: sync, approve, reject, confirm, pause, resume, cancel, resolve, purge or run.';--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.subject_kind IS 'What it was done to: a run, an import or a schedule.';--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.subject_id IS 'Which one: sync_runs.id, imports.id or the name of the schedule.';--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.because IS 'Why, in the words of who did it; null if no reason was given.';
