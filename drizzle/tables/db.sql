-- What is for Ferry alone, so that schema ferry shows tables, views and reports and nothing else.
CREATE SCHEMA IF NOT EXISTS ferry_internal;
COMMENT ON SCHEMA ferry_internal IS 'Functions and views that are for Ferry alone.';
COMMENT ON SCHEMA ferry IS 'Ferry: the inventory of an incident-management platform, with its history.';

COMMENT ON TABLE ferry.migrations IS 'The migrations that have run. Kept by the migrator.';
COMMENT ON COLUMN ferry.migrations.id IS 'The migration''s number.';
COMMENT ON COLUMN ferry.migrations.hash IS 'Hash of its text.';
COMMENT ON COLUMN ferry.migrations.created_at IS 'When it was written, in milliseconds since 1970.';
COMMENT ON COLUMN ferry.migrations.works_since IS 'The newest migration (created_at) of the oldest Ferry that works with the schema as it is after this one.';

COMMENT ON TABLE ferry.backfills IS 'Changes of many rows that follow a migration. One worker at a time makes them, batch by batch.';
COMMENT ON COLUMN ferry.backfills.name IS 'The name of the backfill.';
COMMENT ON COLUMN ferry.backfills.position IS 'The rows up to here are changed.';
COMMENT ON COLUMN ferry.backfills.batches IS 'How many batches were changed.';
COMMENT ON COLUMN ferry.backfills.began_at IS 'When the first batch was changed.';
COMMENT ON COLUMN ferry.backfills.changed_at IS 'When the last batch was changed.';
COMMENT ON COLUMN ferry.backfills.finished_at IS 'When no rows were left; null until then.';

COMMENT ON TABLE ferry.installation IS 'One row: this database as an installation of Ferry.';
COMMENT ON COLUMN ferry.installation.only IS 'Always true: there is one row.';
COMMENT ON COLUMN ferry.installation.id IS 'Part of the queue''s prefix, so that two databases may share one Redis.';
COMMENT ON COLUMN ferry.installation.created_at IS 'When the database was set up.';

COMMENT ON TABLE ferry.known_database IS 'One row: the database that Ferry knew, to notice another one: after a restore, or a failover to a standby that lagged.';
COMMENT ON COLUMN ferry.known_database.only IS 'Always true: there is one row.';
COMMENT ON COLUMN ferry.known_database.system_identifier IS 'The system identifier of the server; null if it does not tell.';
COMMENT ON COLUMN ferry.known_database.timeline IS 'The timeline of the server, which a promotion and a restore change; null if it does not tell.';
COMMENT ON COLUMN ferry.known_database.database_oid IS 'The number of the database on its server.';
COMMENT ON COLUMN ferry.known_database.written_by IS 'The transaction that wrote this row, as xmin has it: in a copy of the row they differ.';
COMMENT ON COLUMN ferry.known_database.seen_at IS 'When a worker last saw that it is this database.';

COMMENT ON TABLE ferry.database_changes IS 'Each time when a worker noticed that the database was not the one that Ferry knew. Kept for ever.';
COMMENT ON COLUMN ferry.database_changes.id IS 'The number of the change. A later one has a higher number.';
COMMENT ON COLUMN ferry.database_changes.noticed_at IS 'When it was noticed. Imports that were sent were held then.';
COMMENT ON COLUMN ferry.database_changes.cause IS 'server: another server; timeline: its server was promoted or restored; database: another database of the server; copy: restored from a dump; calls: a call that a worker recorded is missing.';
COMMENT ON COLUMN ferry.database_changes.missing_since IS 'Rows that were written since may be missing; null if nothing is known of it.';
COMMENT ON COLUMN ferry.database_changes.known IS 'The system identifier, timeline and number of the database that Ferry knew.';
COMMENT ON COLUMN ferry.database_changes.found IS 'Those of the database that it found.';
COMMENT ON COLUMN ferry.database_changes.held_imports IS 'How many imports were held for a person.';

COMMENT ON TABLE ferry.platform_limits IS 'One row for each limit, and for each account of one that several share. A worker locks them while it looks at the call log.';
COMMENT ON COLUMN ferry.platform_limits.id IS 'The number of the limit, for reports: whoever only reads may not see its key.';
COMMENT ON COLUMN ferry.platform_limits.limit_key IS 'What the platform counts by: an account, a limitGroup, or the hash of an app key.';
COMMENT ON COLUMN ferry.platform_limits.operation IS 'The operation that is limited.';
COMMENT ON COLUMN ferry.platform_limits.blocked_until IS 'After a 429, no worker calls before this moment; null if there was never one.';
COMMENT ON COLUMN ferry.platform_limits.blocked_by IS 'The last call that the platform refused because of the limit (platform_calls.id); null if there was none.';
COMMENT ON COLUMN ferry.platform_limits.strikes IS '429s in a row.';
COMMENT ON COLUMN ferry.platform_limits.calls_per_minute IS 'How many calls the settings of the last worker allow in a minute; null if no worker has run.';

COMMENT ON TABLE ferry.platform_calls IS 'The call log: one row for every request to the platform. It is the audit trail, and the sliding window that keeps Ferry under the platform''s limits. Kept for FERRY_KEEP_CALLS; calls of imports for ever.';
COMMENT ON COLUMN ferry.platform_calls.id IS 'The call''s number.';
COMMENT ON COLUMN ferry.platform_calls.limit_key IS 'What the platform counts the call by: an account, a limitGroup, or the hash of an app key.';
COMMENT ON COLUMN ferry.platform_calls.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.platform_calls.operation IS 'list-alert-rules, list-mcp-servers or import-subscribers.';
COMMENT ON COLUMN ferry.platform_calls.started IS 'When the call got its permit.';
COMMENT ON COLUMN ferry.platform_calls.counted_by IS 'The latest moment at which the platform can have counted it.';
COMMENT ON COLUMN ferry.platform_calls.finished IS 'When the platform''s answer came; null while it is awaited, or if none came. A gateway''s answer is not the platform''s.';
COMMENT ON COLUMN ferry.platform_calls.http_status IS 'The answer''s HTTP status; null without an answer.';
COMMENT ON COLUMN ferry.platform_calls.error_code IS 'The platform''s error code, or why there was no answer; null if there was no error.';
COMMENT ON COLUMN ferry.platform_calls.request_id IS 'The platform''s id of the call, which its support asks for.';
COMMENT ON COLUMN ferry.platform_calls.run_id IS 'The run on whose behalf it was made; null for a call of `ferry doctor`.';
COMMENT ON COLUMN ferry.platform_calls.batch_id IS 'The batch of an import (import_batches.id) that the call sent; null for any other call.';

COMMENT ON TABLE ferry.leases IS 'Which worker does which work. A lease that is not renewed expires, and any worker may take over the work.';
COMMENT ON COLUMN ferry.leases.name IS 'The work, for example sync:default:alert-rules.';
COMMENT ON COLUMN ferry.leases.token IS 'The fencing token: checked in every transaction that applies the work.';
COMMENT ON COLUMN ferry.leases.holder IS 'The host and process that does the work.';
COMMENT ON COLUMN ferry.leases.acquired_at IS 'When it was taken.';
COMMENT ON COLUMN ferry.leases.expires_at IS 'When it expires unless it is renewed.';

COMMENT ON TABLE ferry.workers IS 'Which workers there are. Each writes its row every 30 s and removes it when it ends. A row that was not written for 90 s is of a worker that died, or does not reach this database; it is removed after a day.';
COMMENT ON COLUMN ferry.workers.holder IS 'The name of the worker, as leases have it (leases.holder).';
COMMENT ON COLUMN ferry.workers.host IS 'The machine or container it runs on.';
COMMENT ON COLUMN ferry.workers.pid IS 'The number of its process there.';
COMMENT ON COLUMN ferry.workers.version IS 'Its version of Ferry.';
COMMENT ON COLUMN ferry.workers.accounts IS 'The accounts of its settings.';
COMMENT ON COLUMN ferry.workers.started_at IS 'Since when it works.';
COMMENT ON COLUMN ferry.workers.seen_at IS 'When it last wrote this row, by the clock of this database.';

COMMENT ON TABLE ferry.audit IS 'What people did by hand: one row for each decision and each run they asked for, written in the transaction that did it. Kept for ever.';
COMMENT ON COLUMN ferry.audit.id IS 'The number of the act. A later act has a higher one.';
COMMENT ON COLUMN ferry.audit.at IS 'When it was done.';
COMMENT ON COLUMN ferry.audit.account IS 'The account it concerns; * for all accounts.';
COMMENT ON COLUMN ferry.audit.actor IS 'Who did it: the name given with the command, else user@host.';
COMMENT ON COLUMN ferry.audit.action IS 'What was done, in the words of the commands: sync, approve, reject, confirm, pause, resume, cancel, resolve, purge, run or send (a message again).';
COMMENT ON COLUMN ferry.audit.subject_kind IS 'What it was done to: a run, an import, a schedule or an event.';
COMMENT ON COLUMN ferry.audit.subject_id IS 'Which one: sync_runs.id, imports.id, events.id or the name of the schedule.';
COMMENT ON COLUMN ferry.audit.because IS 'Why, in the words of who did it; null if no reason was given.';
COMMENT ON COLUMN ferry.audit.rows IS 'How many held rows an approval or a rejection was about; null for other actions.';
COMMENT ON COLUMN ferry.audit.of_rows IS 'How many rows were held at that moment.';

COMMENT ON TABLE ferry.events IS 'What people are told of: one row for each thing that began, ended or happened. A row is written in the transaction that makes it true.';
COMMENT ON COLUMN ferry.events.id IS 'Its number.';
COMMENT ON COLUMN ferry.events.message_id IS 'Part of the id of its messages. It is the same each time the message is sent, so that a receiver can leave out repetitions.';
COMMENT ON COLUMN ferry.events.kind IS 'What happened, such as removals.held.';
COMMENT ON COLUMN ferry.events.state IS 'raised: it began or happened; resolved: it is over.';
COMMENT ON COLUMN ferry.events.account IS 'The account of Ferry''s configuration it is about.';
COMMENT ON COLUMN ferry.events.subject IS 'What it is about within the account: an inventory or the id of an import; empty for the account itself.';
COMMENT ON COLUMN ferry.events.data IS 'What else is known of it. It holds no recipient and no key.';
COMMENT ON COLUMN ferry.events.at IS 'When it was written.';
COMMENT ON COLUMN ferry.events.is_open IS 'True from when it is raised until it is resolved. At most one event of a kind is open for an account and subject.';
COMMENT ON COLUMN ferry.events.routed_at IS 'When it was decided which receivers get a message about it. Null after a day: no receiver was set.';
COMMENT ON TABLE ferry.receivers IS 'The receivers of events that a worker has ever had in its settings. A receiver gets what happens after it is known, and nothing older.';
COMMENT ON COLUMN ferry.receivers.name IS 'Its name in the settings; webhook is that of FERRY_WEBHOOK_URL.';
COMMENT ON COLUMN ferry.receivers.after_event IS 'The newest event (events.id) when it became known.';
COMMENT ON COLUMN ferry.receivers.known_since IS 'When it became known.';
COMMENT ON TABLE ferry.deliveries IS 'The messages to receivers: one row for each event that a receiver is told of.';
COMMENT ON COLUMN ferry.deliveries.event IS 'The event (events.id). The messages to one receiver are sent in this order.';
COMMENT ON COLUMN ferry.deliveries.receiver IS 'The name of the receiver in the settings.';
COMMENT ON COLUMN ferry.deliveries.kind IS 'As in events, and so are account and subject.';
COMMENT ON COLUMN ferry.deliveries.account IS 'The account of Ferry''s configuration it is about.';
COMMENT ON COLUMN ferry.deliveries.subject IS 'What it is about within the account.';
COMMENT ON COLUMN ferry.deliveries.data IS 'What the message tells this receiver: of many changes only those that its filter chose. It holds no recipient and no key, and names only for a receiver that asks for them.';
COMMENT ON COLUMN ferry.deliveries.at IS 'When the event was written; for a digest, when that is sent. A day later it is not sent any more.';
COMMENT ON COLUMN ferry.deliveries.attempts IS 'How often it was sent.';
COMMENT ON COLUMN ferry.deliveries.retry_at IS 'When it is sent again, after it was not accepted.';
COMMENT ON COLUMN ferry.deliveries.delivered_at IS 'When the receiver accepted it.';
COMMENT ON COLUMN ferry.deliveries.http_status IS 'What the receiver answered last; null without an answer.';
COMMENT ON COLUMN ferry.deliveries.failure IS 'Why it was not accepted the last time.';
