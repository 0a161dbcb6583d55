DROP INDEX "ferry"."events_undelivered";--> statement-breakpoint
ALTER TABLE "ferry"."platform_limits" ADD COLUMN "id" bigint NOT NULL GENERATED ALWAYS AS IDENTITY (sequence name "ferry"."platform_limits_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1);--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "excluded_to_call" bigint;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "excluding_to_call" bigint;--> statement-breakpoint
ALTER TABLE "ferry"."alert_rule_versions" ADD COLUMN "appeared" text;--> statement-breakpoint
ALTER TABLE "ferry"."mcp_server_versions" ADD COLUMN "appeared" text;--> statement-breakpoint
ALTER TABLE "ferry"."sync_runs" ADD COLUMN "first_read" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "events_undelivered_of_subject" ON "ferry"."events" USING btree ("kind","account","subject","id") WHERE "ferry"."events"."delivered_at" is null;--> statement-breakpoint
CREATE INDEX "events_by_retry" ON "ferry"."events" USING btree ("retry_at") WHERE "ferry"."events"."delivered_at" is null and "ferry"."events"."retry_at" is not null;--> statement-breakpoint
CREATE INDEX "sync_runs_first_readings" ON "ferry"."sync_runs" USING btree ("applied_at") WHERE "ferry"."sync_runs"."first_read" > 0;--> statement-breakpoint
CREATE INDEX "sync_runs_by_applied" ON "ferry"."sync_runs" USING btree ("applied_at") WHERE "ferry"."sync_runs"."applied_at" is not null;--> statement-breakpoint
CREATE INDEX "events_undelivered" ON "ferry"."events" USING btree ("at","id") WHERE "ferry"."events"."delivered_at" is null;--> statement-breakpoint
ALTER TABLE "ferry"."imports" DROP COLUMN "screened_at";--> statement-breakpoint
ALTER TABLE "ferry"."imports" DROP COLUMN "screening_at";--> statement-breakpoint
ALTER TABLE "ferry"."platform_limits" ADD CONSTRAINT "platform_limits_id_unique" UNIQUE("id");--> statement-breakpoint
ALTER TABLE "ferry"."alert_rule_versions" ADD CONSTRAINT "alert_rule_versions_appeared" CHECK ("ferry"."alert_rule_versions"."appeared" in ('first reading', 'unexplained'));--> statement-breakpoint
ALTER TABLE "ferry"."mcp_server_versions" ADD CONSTRAINT "mcp_server_versions_appeared" CHECK ("ferry"."mcp_server_versions"."appeared" in ('first reading', 'unexplained'));
--> statement-breakpoint
COMMENT ON COLUMN ferry.platform_limits.id IS 'The number of the limit, for reports: whoever only reads may not see its key.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.excluded_to_call IS 'Up to this call (platform_calls.id), rows that other imports of the page had sent have been left out; null before that.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.excluding_to_call IS 'Up to which call Ferry is leaving out rows that other imports of the page had sent; null unless it is doing so.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.state IS 'ready: to be sent; in flight; sent: the platform accepted it; doubted: one row that the platform refused alone, sent alone once more before it is rejected; uncertain: the outcome is unknown, and a person decides; rejected: all its rows are among the rejects; left out: other imports had sent all its rows before; split: smaller batches took its place.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_batches.reasons IS 'What the platform answered about lines set aside or doubted, without recipients: code, message and request_id by line, and the newest call at that moment.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.alert_rule_versions.appeared IS 'How the rule appeared, if nobody is known to have added it when the version began. first reading: its folder was listed completely for the first time (by this key). unexplained: created_at does not say that the rule was created since the listing before; it became visible, moved here or came back. Null: it was added or changed then.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.mcp_server_versions.appeared IS 'How the server appeared, if nobody is known to have added it when the version began: first reading, unexplained, or null, as in alert_rule_versions.appeared.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.sync_runs.first_read IS 'Of the added rows, how many a first reading found: their folder had never been listed completely before.';
--> statement-breakpoint
DROP FUNCTION ferry.import_reasons(bigint,integer), ferry.rules_never_fired(integer), ferry.changes_between(timestamp with time zone,timestamp with time zone), ferry.churn_by_folder(timestamp with time zone), ferry.time_to_clear(timestamp with time zone);
--> statement-breakpoint
-- What a limit allows for an operation at this moment: until when the next call waits, until when a refusal stops all calls, how
-- many calls count in the longest window, and for how long the first of them has. It reads one snapshot and acquires nothing.
CREATE OR REPLACE FUNCTION ferry.limit_state(
  p_limit_key text, p_operation text, p_max_calls int[], p_window_ms int[],
  OUT wait_ms double precision, OUT closed_ms double precision, OUT counted integer, OUT counted_for_ms double precision
) LANGUAGE sql STABLE AS $$
  WITH calls AS (
    SELECT count(*)::integer AS counted, min(c.started) AS first
    FROM ferry.counted_calls(p_limit_key, p_operation, now() - (SELECT max(ms) FROM unnest(p_window_ms) ms) * interval '1 ms') c
  ), windows AS (
    SELECT max(w.free_at) AS free_at FROM ferry.full_windows(p_limit_key, p_operation, p_max_calls, p_window_ms, now()) w
  ), closed AS (
    SELECT max(l.blocked_until) AS until FROM ferry.platform_limits l
    WHERE l.limit_key = p_limit_key AND l.operation = p_operation
  )
  SELECT greatest(extract(epoch FROM greatest(windows.free_at, closed.until) - now()), 0)::float8 * 1000,
    greatest(extract(epoch FROM closed.until - now()), 0)::float8 * 1000,
    calls.counted, coalesce(extract(epoch FROM now() - calls.first), 0)::float8 * 1000
  FROM calls, windows, closed
$$;

COMMENT ON FUNCTION ferry.limit_state IS 'What a limit allows for an operation at this moment, in milliseconds and calls. For Ferry itself.';
--> statement-breakpoint
-- The calls of the call log, each with its limit. As its owner, and without the keys of limits, which have hashes of keys in them.
CREATE OR REPLACE VIEW ferry.limited_calls AS
  SELECT c.id, l.id AS limit_id, l.calls_per_minute, c.account, c.operation, c.started, c.counted_by, c.finished,
    c.http_status, c.batch_id
  FROM ferry.platform_limits l
  JOIN ferry.platform_calls c ON c.limit_key = l.limit_key AND c.operation = l.operation;

COMMENT ON VIEW ferry.limited_calls IS 'The calls to the platform, each with the limit that it counts for. Ask for counted_by too, for the index.';
SELECT ferry.describe_columns('ferry.limited_calls', 'ferry.platform_limits');
SELECT ferry.describe_columns('ferry.limited_calls', 'ferry.platform_calls');
COMMENT ON COLUMN ferry.limited_calls.limit_id IS 'The limit (platform_limits.id). Accounts that share a limit have one.';
--> statement-breakpoint
-- Counts only, with the barrier of rejects_by_reason. By the line, so that 10,000 rows of each kind are read at most.
CREATE OR REPLACE VIEW ferry.import_reasons WITH (security_barrier = true) AS
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

COMMENT ON VIEW ferry.import_reasons IS 'Why rows of an import are not sent and how many, counted in its first 10,000 rejects and as many rows left out. Counts only. For Ferry itself; rejects_by_reason counts all.';
COMMENT ON COLUMN ferry.import_reasons.import IS 'The import (imports.id).';
COMMENT ON COLUMN ferry.import_reasons.kind IS 'rejected, or why it was left out: duplicate, suppressed or already imported.';
COMMENT ON COLUMN ferry.import_reasons.rejected_by IS 'file: by the check of the file; platform: by the platform. Null for what was left out.';
COMMENT ON COLUMN ferry.import_reasons.reason IS 'Why, as a code.';
COMMENT ON COLUMN ferry.import_reasons.rows IS 'How many rows.';
--> statement-breakpoint
-- Puts smaller batches in the place of one, uncertain or sent, of which lines are set aside: those were not in the call, so
-- each is to be sent alone, as uncertain as it was before it, and what lies between them stays as it is. If the batch was sent,
-- the reasons of those lines stay too: refused alone, they are rejects.
-- The two settings: see claim_batch.sql.
CREATE OR REPLACE FUNCTION ferry.carve_batch(p_batch bigint, p_was_uncertain boolean) RETURNS void LANGUAGE plpgsql VOLATILE
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

COMMENT ON FUNCTION ferry.carve_batch IS 'Puts smaller batches in the place of an uncertain or sent one of which lines are set aside. For Ferry itself.';
--> statement-breakpoint
-- One row for each addition, change, removal and return of a rule. `before` and `after` hold the fields that differ. Each
-- version looks up the version before it, so that a condition on the rule or on the time reaches the index. Before the
-- history starts nobody knows whether a version had one before it.
CREATE OR REPLACE VIEW ferry.alert_rule_changes AS
  SELECT v.account, v.id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.name,
    CASE WHEN p.id IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after, CASE WHEN v.appeared IS NULL THEN v.updater_id END AS updater_id,
    CASE WHEN v.appeared IS NULL THEN v.updater_name END AS updater_name, coalesce(v.appeared = 'first reading', false) AS first_reading
  FROM ferry.alert_rule_versions v
  LEFT JOIN LATERAL (
    SELECT * FROM ferry.alert_rule_versions p
    WHERE p.id = v.id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p ON true
  LEFT JOIN LATERAL (
    -- Field by field: a version as jsonb would take ten times as long.
    SELECT jsonb_object_agg(f.key, f.before) AS before, jsonb_object_agg(f.key, f.after) AS after
    FROM (VALUES
      ('account_id', to_jsonb(p.account_id), to_jsonb(v.account_id), p.account_id IS DISTINCT FROM v.account_id),
      ('folder_id', to_jsonb(p.folder_id), to_jsonb(v.folder_id), p.folder_id IS DISTINCT FROM v.folder_id),
      ('name', to_jsonb(p.name), to_jsonb(v.name), p.name IS DISTINCT FROM v.name),
      ('labels', to_jsonb(p.labels), to_jsonb(v.labels), p.labels IS DISTINCT FROM v.labels),
      ('ds_type', to_jsonb(p.ds_type), to_jsonb(v.ds_type), p.ds_type IS DISTINCT FROM v.ds_type),
      ('enabled', to_jsonb(p.enabled), to_jsonb(v.enabled), p.enabled IS DISTINCT FROM v.enabled),
      ('debug_log_enabled', to_jsonb(p.debug_log_enabled), to_jsonb(v.debug_log_enabled), p.debug_log_enabled IS DISTINCT FROM v.debug_log_enabled),
      ('cron_pattern', to_jsonb(p.cron_pattern), to_jsonb(v.cron_pattern), p.cron_pattern IS DISTINCT FROM v.cron_pattern),
      ('timezone', to_jsonb(p.timezone), to_jsonb(v.timezone), p.timezone IS DISTINCT FROM v.timezone),
      ('delay_seconds', to_jsonb(p.delay_seconds), to_jsonb(v.delay_seconds), p.delay_seconds IS DISTINCT FROM v.delay_seconds),
      ('creator_id', to_jsonb(p.creator_id), to_jsonb(v.creator_id), p.creator_id IS DISTINCT FROM v.creator_id),
      ('creator_name', to_jsonb(p.creator_name), to_jsonb(v.creator_name), p.creator_name IS DISTINCT FROM v.creator_name),
      ('updater_id', to_jsonb(p.updater_id), to_jsonb(v.updater_id), p.updater_id IS DISTINCT FROM v.updater_id),
      ('updater_name', to_jsonb(p.updater_name), to_jsonb(v.updater_name), p.updater_name IS DISTINCT FROM v.updater_name),
      ('created_at', to_jsonb(p.created_at), to_jsonb(v.created_at), p.created_at IS DISTINCT FROM v.created_at),
      ('updated_at', to_jsonb(p.updated_at), to_jsonb(v.updated_at), p.updated_at IS DISTINCT FROM v.updated_at)
    ) AS f (key, before, after, differs)
    WHERE f.differs
  ) d ON p.id IS NOT NULL
  WHERE v.valid_from >= coalesce((SELECT starts_at FROM ferry.history), '-infinity')
  UNION ALL
  SELECT v.account, v.id, v.valid_to, v.closed_by_run, v.name, 'removed', NULL, NULL, NULL, NULL, false
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to >= coalesce((SELECT starts_at FROM ferry.history), '-infinity') AND NOT EXISTS (
    SELECT FROM ferry.alert_rule_versions n WHERE n.id = v.id AND n.account = v.account AND n.valid_from = v.valid_to
  );

COMMENT ON VIEW ferry.alert_rule_changes IS 'What happened to alert rules: one row for every addition, change, removal and return, from history_start() on. What returns after its earlier versions were removed is added.';
SELECT ferry.describe_columns('ferry.alert_rule_changes', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rule_changes.observed_at IS 'When it was observed. A run under way may still add changes that are later than settled_at().';
COMMENT ON COLUMN ferry.alert_rule_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.alert_rule_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.alert_rule_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_id IS 'Who changed it, according to the platform; null for a removal, and for what appeared without having been created then.';
COMMENT ON COLUMN ferry.alert_rule_changes.updater_name IS 'The name of that person.';
COMMENT ON COLUMN ferry.alert_rule_changes.first_reading IS 'Whether the rule was found by a first reading, see alert_rule_versions.appeared: then nobody added it at that moment.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.history_start() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT starts_at FROM ferry.history), '-infinity')
$$;

COMMENT ON FUNCTION ferry.history_start IS 'From when on the history is complete: versions that ended before may have been removed. -infinity if none was.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.mcp_server_changes AS
  SELECT v.account, v.server_id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.server_name,
    CASE WHEN p.server_id IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after, coalesce(v.appeared = 'first reading', false) AS first_reading
  FROM ferry.mcp_server_versions v
  LEFT JOIN LATERAL (
    SELECT * FROM ferry.mcp_server_versions p
    WHERE p.server_id = v.server_id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(key, b.value) AS before, jsonb_object_agg(key, a.value) AS after
    FROM jsonb_each(to_jsonb(p)) b JOIN jsonb_each(to_jsonb(v)) a USING (key)
    WHERE a.value <> b.value AND key <> ALL (
      '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,appeared}'::text[])
  ) d ON p.server_id IS NOT NULL
  WHERE v.valid_from >= coalesce((SELECT starts_at FROM ferry.history), '-infinity')
  UNION ALL
  SELECT v.account, v.server_id, v.valid_to, v.closed_by_run, v.server_name, 'removed', NULL, NULL, false
  FROM ferry.mcp_server_versions v
  WHERE v.valid_to >= coalesce((SELECT starts_at FROM ferry.history), '-infinity') AND NOT EXISTS (
    SELECT FROM ferry.mcp_server_versions n WHERE n.server_id = v.server_id AND n.account = v.account AND n.valid_from = v.valid_to
  );

COMMENT ON VIEW ferry.mcp_server_changes IS 'What happened to MCP servers: one row for every addition, change, removal and return, from history_start() on. What returns after its earlier versions were removed is added.';
SELECT ferry.describe_columns('ferry.mcp_server_changes', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_server_changes.observed_at IS 'When it was observed. A run under way may still add changes that are later than settled_at().';
COMMENT ON COLUMN ferry.mcp_server_changes.run_id IS 'The run (sync_runs.id) that observed it.';
COMMENT ON COLUMN ferry.mcp_server_changes.change IS 'added, changed, removed or returned.';
COMMENT ON COLUMN ferry.mcp_server_changes.before IS 'The fields that differ, as they were; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.mcp_server_changes.after IS 'The fields that differ, as they became; null if there is nothing to compare with.';
COMMENT ON COLUMN ferry.mcp_server_changes.first_reading IS 'Whether the server was found by a first reading, see mcp_server_versions.appeared: then nobody added it at that moment.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_servers_as_of(at timestamptz)
RETURNS TABLE (
  account text, server_id text, account_id numeric(20, 0), team_id numeric(20, 0), can_edit boolean,
  server_name text, description text, transport text, url text, status text, connect_timeout bigint,
  call_timeout bigint, tool_count bigint, tools jsonb, auth_mode text, created_by numeric(20, 0),
  created_at bigint, updated_at bigint,
  valid_from timestamptz, valid_to timestamptz, opened_by_run bigint, closed_by_run bigint,
  fingerprint uuid, flags text[], altered text[]
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.server_id, v.account_id, v.team_id, v.can_edit, v.server_name, v.description, v.transport,
    v.url, v.status, v.connect_timeout, v.call_timeout, v.tool_count, v.tools, v.auth_mode, v.created_by,
    v.created_at, v.updated_at,
    v.valid_from, v.valid_to, v.opened_by_run, v.closed_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.mcp_server_versions v
  WHERE v.valid_from <= $1 AND (v.valid_to IS NULL OR v.valid_to > $1)
    AND ferry.expect_history($1)
$$;

COMMENT ON FUNCTION ferry.mcp_servers_as_of IS 'The MCP servers as they were known at a moment; the columns of mcp_servers, and valid_to and closed_by_run. For a moment up to settled_at() the answer never changes.';
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

COMMENT ON FUNCTION ferry.settled_at IS 'The instant up to which the history never changes any more, except that old versions are pruned: every later commit has later instants. Who asks again and again for what is new asks for what was observed after the last row it got and up to this instant: it misses nothing and gets nothing twice.';
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
  FROM ferry.limited_calls c
  CROSS JOIN LATERAL (
    SELECT CASE WHEN c.http_status IS NOT NULL THEN extract(epoch FROM c.finished - c.started)::double precision END AS seconds
  ) e
  WHERE c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY c.account, c.operation
  ORDER BY c.account, c.operation
$$;

COMMENT ON FUNCTION ferry.call_latency IS 'How long the platform took to answer: account, operation, calls, unanswered (without an HTTP status), and p50, p95, p99 and longest of the answered ones. Since: one day ago by default.';
--> statement-breakpoint
-- A rule that differs has a version that began or ended between the two instants, so only such versions are read. The
-- fields of rules are compared one by one: a version as jsonb would take ten times as long. What only some rows need is asked for in
-- a WHERE: as a condition of the join, it would be looked up for all.
CREATE OR REPLACE FUNCTION ferry.changes_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, inventory text, change text, id text, name text, folder_id numeric(20, 0), updater_name text, before jsonb, after jsonb,
  first_reading boolean
) LANGUAGE sql STABLE AS $$
  SELECT c.account, 'alert-rules', CASE WHEN o.id IS NULL THEN 'added' WHEN n.id IS NULL THEN 'removed' ELSE 'changed' END,
    c.id::text, coalesce(n.name, o.name), coalesce(n.folder_id, o.folder_id), n.updater_name,
    d.before, d.after, coalesce(f.appeared = 'first reading', false)
  FROM (
    SELECT v.account, v.id FROM ferry.alert_rule_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.account, v.id FROM ferry.alert_rule_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.alert_rule_versions v WHERE v.id = c.id AND v.account = c.account AND v.valid_from <= $1
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $1
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.alert_rule_versions v WHERE v.id = c.id AND v.account = c.account AND v.valid_from <= $2
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $2
  ) n ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(f.key, f.before) AS before, jsonb_object_agg(f.key, f.after) AS after
    FROM (VALUES
      ('account_id', to_jsonb(o.account_id), to_jsonb(n.account_id), o.account_id IS DISTINCT FROM n.account_id),
      ('folder_id', to_jsonb(o.folder_id), to_jsonb(n.folder_id), o.folder_id IS DISTINCT FROM n.folder_id),
      ('name', to_jsonb(o.name), to_jsonb(n.name), o.name IS DISTINCT FROM n.name),
      ('labels', to_jsonb(o.labels), to_jsonb(n.labels), o.labels IS DISTINCT FROM n.labels),
      ('ds_type', to_jsonb(o.ds_type), to_jsonb(n.ds_type), o.ds_type IS DISTINCT FROM n.ds_type),
      ('enabled', to_jsonb(o.enabled), to_jsonb(n.enabled), o.enabled IS DISTINCT FROM n.enabled),
      ('debug_log_enabled', to_jsonb(o.debug_log_enabled), to_jsonb(n.debug_log_enabled), o.debug_log_enabled IS DISTINCT FROM n.debug_log_enabled),
      ('cron_pattern', to_jsonb(o.cron_pattern), to_jsonb(n.cron_pattern), o.cron_pattern IS DISTINCT FROM n.cron_pattern),
      ('timezone', to_jsonb(o.timezone), to_jsonb(n.timezone), o.timezone IS DISTINCT FROM n.timezone),
      ('delay_seconds', to_jsonb(o.delay_seconds), to_jsonb(n.delay_seconds), o.delay_seconds IS DISTINCT FROM n.delay_seconds),
      ('creator_id', to_jsonb(o.creator_id), to_jsonb(n.creator_id), o.creator_id IS DISTINCT FROM n.creator_id),
      ('creator_name', to_jsonb(o.creator_name), to_jsonb(n.creator_name), o.creator_name IS DISTINCT FROM n.creator_name),
      ('updater_id', to_jsonb(o.updater_id), to_jsonb(n.updater_id), o.updater_id IS DISTINCT FROM n.updater_id),
      ('updater_name', to_jsonb(o.updater_name), to_jsonb(n.updater_name), o.updater_name IS DISTINCT FROM n.updater_name),
      ('created_at', to_jsonb(o.created_at), to_jsonb(n.created_at), o.created_at IS DISTINCT FROM n.created_at),
      ('updated_at', to_jsonb(o.updated_at), to_jsonb(n.updated_at), o.updated_at IS DISTINCT FROM n.updated_at)
    ) AS f (key, before, after, differs)
    WHERE f.differs
  ) d ON o.id IS NOT NULL AND n.id IS NOT NULL
  LEFT JOIN LATERAL (
    SELECT v.appeared FROM ferry.alert_rule_versions v
    WHERE v.id = c.id AND v.account = c.account AND v.valid_from > $1 AND o.id IS NULL AND $1 < $2
    ORDER BY v.valid_from LIMIT 1
  ) f ON true
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint AND ferry.expect_history(least($1, $2))
  UNION ALL
  SELECT c.account, 'mcp-servers', CASE WHEN o.server_id IS NULL THEN 'added' WHEN n.server_id IS NULL THEN 'removed' ELSE 'changed' END,
    c.server_id, coalesce(n.server_name, o.server_name), NULL, NULL,
    d.before, d.after, coalesce(f.appeared = 'first reading', false)
  FROM (
    SELECT v.account, v.server_id FROM ferry.mcp_server_versions v WHERE v.valid_from > least($1, $2) AND v.valid_from <= greatest($1, $2)
    UNION
    SELECT v.account, v.server_id FROM ferry.mcp_server_versions v WHERE v.valid_to > least($1, $2) AND v.valid_to <= greatest($1, $2)
  ) c
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.mcp_server_versions v WHERE v.server_id = c.server_id AND v.account = c.account AND v.valid_from <= $1
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $1
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM ferry.mcp_server_versions v WHERE v.server_id = c.server_id AND v.account = c.account AND v.valid_from <= $2
      ORDER BY v.valid_from DESC LIMIT 1
    ) v WHERE coalesce(v.valid_to, 'infinity') > $2
  ) n ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(x.key, x.value) AS before, jsonb_object_agg(x.key, y.value) AS after
    FROM jsonb_each(to_jsonb(o)) x JOIN jsonb_each(to_jsonb(n)) y ON y.key = x.key
    WHERE x.value <> y.value AND x.key <> ALL (
      '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,appeared}'::text[])
  ) d ON o.server_id IS NOT NULL AND n.server_id IS NOT NULL
  LEFT JOIN LATERAL (
    SELECT v.appeared FROM ferry.mcp_server_versions v
    WHERE v.server_id = c.server_id AND v.account = c.account AND v.valid_from > $1 AND o.server_id IS NULL AND $1 < $2
    ORDER BY v.valid_from LIMIT 1
  ) f ON true
  WHERE o.fingerprint IS DISTINCT FROM n.fingerprint AND ferry.expect_history(least($1, $2))
$$;

COMMENT ON FUNCTION ferry.changes_between IS 'What was added, changed and removed in both inventories from one instant to another: one row for each rule and server that differs, whatever happened between. Raises an error if the history starts later. before and after: the fields that differ, of a change. updater_name: who had updated the rule last at the second instant. first_reading: what is added was found by a first reading, so nobody added it in that time.';
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
CREATE OR REPLACE VIEW ferry.complete_runs AS
  SELECT r.id, r.account, r.resource AS inventory, r.scope -> 'folders' AS folders, r.started_at, r.finished_at
  FROM ferry.sync_runs r
  WHERE r.status IN ('succeeded', 'held');

COMMENT ON VIEW ferry.complete_runs IS 'The runs that applied a complete listing, each with the folders that it listed.';
SELECT ferry.describe_columns('ferry.complete_runs', 'ferry.sync_runs');
COMMENT ON COLUMN ferry.complete_runs.inventory IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.complete_runs.folders IS 'The folders that it listed, as JSON; 0 stands for all.';
--> statement-breakpoint
-- What is known of the begin and the end of an episode: decided here alone, by looks into the primary key of versions. (As EXISTS they
-- could be hashed: all versions read.) Without settings of its own, Postgres inlines it.
CREATE OR REPLACE FUNCTION ferry.episodes(since timestamptz)
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

COMMENT ON FUNCTION ferry.episodes IS 'The episodes of alert rules that fire, or ended after a time. began_seen: the rule was known before it began to fire, or was added then; else (a first reading found it firing, or it appeared so) nobody knows since when it fired. was_cleared: it ended, and the rule was still there; else the rule was removed while it fired, or it fires. For the reports.';
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
  FROM ferry.limited_calls c
  LEFT JOIN ferry.import_batches b ON b.id = c.batch_id
  WHERE c.operation = 'import-subscribers'
    AND c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY date_trunc('minute', c.started), c.account
  ORDER BY date_trunc('minute', c.started) DESC, c.account
$$;

COMMENT ON FUNCTION ferry.import_throughput IS 'How fast imports are sent, minute by minute, the latest first: minute, account, calls, rows that the platform accepted with them, allowed (calls in a minute, by the settings of the last worker; accounts of one limitGroup share them), and share of them. Minutes without a call have no row. Since: one day ago by default.';
--> statement-breakpoint
-- Goes by the limits, so that the index on their calls is used.
-- By indexes, and not compiled: a planner that does not know `since` would read the whole table.
CREATE OR REPLACE FUNCTION ferry.limit_use(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, operation text, calls integer, allowed integer, share double precision, refused integer
) LANGUAGE sql STABLE SET enable_seqscan = off SET jit = off AS $$
  -- By account first: calls are many, accounts that share a limit are few.
  WITH counted AS (
    SELECT date_trunc('minute', c.started) AS minute, c.limit_id, c.operation, c.account, max(c.calls_per_minute) AS allowed,
      count(*) AS calls, count(*) FILTER (WHERE c.http_status = 429) AS refused
    FROM ferry.limited_calls c
    WHERE c.counted_by >= coalesce($1, now() - interval '1 hour') AND c.started >= coalesce($1, now() - interval '1 hour')
    GROUP BY 1, 2, 3, 4
  )
  SELECT n.minute, string_agg(n.account, ', ' ORDER BY n.account), n.operation, sum(n.calls)::integer, max(n.allowed),
    sum(n.calls)::double precision / max(n.allowed), sum(n.refused)::integer
  FROM counted n
  GROUP BY n.minute, n.limit_id, n.operation
  ORDER BY n.minute DESC, n.operation, 2
$$;

COMMENT ON FUNCTION ferry.limit_use IS 'How much of each limit was used, minute by minute, the latest first: minute, account (several, if they share the limit), operation, calls that began in it, allowed (calls in a minute, by the settings of the last worker), share of them, and refused (answered 429). Minutes without a call have no row. Since: one hour ago by default.';
--> statement-breakpoint
-- Verbs are words of a tool's name: delete_branch, deleteBranch and branch-delete, but not undeleted; the first one counts. They
-- are looked up once for each name. Invisible characters are those that show nothing, or turn the direction of text: they can
-- hide instructions for a model from people. Of a name of 60,000 characters only the beginning is split into words.
CREATE OR REPLACE VIEW ferry.mcp_risk AS
  WITH servers AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY s.account, s.server_name, s.server_id) AS place,
      s.account, s.server_id, s.server_name, s.team_id, s.description, s.url, s.status, s.auth_mode, s.tools
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
  ), found AS (
    SELECT place, 'no https' AS reason, NULL AS tool, url AS detail FROM servers WHERE url <> '' AND url !~* '^https://'
    UNION ALL
    SELECT place, 'shared credentials', NULL, 'auth_mode ' || auth_mode FROM servers WHERE auth_mode = 'shared'
    UNION ALL
    SELECT place, 'disabled but listed', NULL, 'status ' || status FROM servers WHERE status = 'disabled'
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
  SELECT s.account, s.server_id, s.server_name, s.team_id, f.reason, f.tool, f.detail
  FROM found f JOIN servers s USING (place)
  ORDER BY f.place, f.reason, f.tool;

COMMENT ON VIEW ferry.mcp_risk IS 'What could be a risk in the current MCP servers: one row for each server, reason and tool.';
SELECT ferry.describe_columns('ferry.mcp_risk', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_risk.reason IS 'no https; shared credentials; disabled but listed; name used twice (by servers of the account); tool name used twice (in one server); tool writes or tool deletes (by a verb in its name); invisible characters (in a name or description, such as zero-width or bidirectional ones).';
COMMENT ON COLUMN ferry.mcp_risk.tool IS 'The tool, if the reason is about one.';
COMMENT ON COLUMN ferry.mcp_risk.detail IS 'What was found: the address, the verb, the character.';
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
    SELECT CASE WHEN o.key IS NULL THEN 'added' WHEN n.key IS NULL THEN 'removed' ELSE 'description changed' END AS change,
      coalesce(n.name, o.name) AS tool, o.description AS before, n.description AS after
    FROM (
      SELECT coalesce(to_jsonb(d.name), 'null') AS key, d.name, d.description,
        row_number() OVER (PARTITION BY d.name ORDER BY d.description) AS nth
      FROM (
        SELECT x.tool ->> 'name', x.tool ->> 'description' FROM jsonb_array_elements(p.tools) x (tool)
        EXCEPT ALL SELECT x.tool ->> 'name', x.tool ->> 'description' FROM jsonb_array_elements(v.tools) x (tool)
      ) d (name, description)
    ) o
    FULL JOIN (
      SELECT coalesce(to_jsonb(d.name), 'null') AS key, d.name, d.description,
        row_number() OVER (PARTITION BY d.name ORDER BY d.description) AS nth
      FROM (
        SELECT x.tool ->> 'name', x.tool ->> 'description' FROM jsonb_array_elements(v.tools) x (tool)
        EXCEPT ALL SELECT x.tool ->> 'name', x.tool ->> 'description' FROM jsonb_array_elements(p.tools) x (tool)
      ) d (name, description)
    ) n ON n.key = o.key AND n.nth = o.nth
  ) t
  WHERE v.valid_from >= coalesce($1, now() - interval '7 days') AND v.valid_from <= coalesce($2, 'infinity')
    AND v.tools IS DISTINCT FROM p.tools
  ORDER BY v.valid_from DESC, v.account, v.server_id, t.tool, t.before, t.after
$$;

COMMENT ON FUNCTION ferry.mcp_tool_changes IS 'Tools that a known MCP server gained, lost or described otherwise since a time (null: seven days ago) and up to one (null: now), the newest first. before and after are the descriptions. Servers that were added or removed are in mcp_server_changes.';
--> statement-breakpoint
-- What cron_load leaves out is looked for in the index of the schedules of enabled rules, once for each pattern.
CREATE OR REPLACE VIEW ferry.rules_contract_breaks AS
  SELECT v.account, b.reason, v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM ferry.alert_rule_versions v CROSS JOIN LATERAL unnest(v.flags) AS b (reason)
  WHERE v.valid_to IS NULL AND v.flags IS NOT NULL
  UNION ALL
  SELECT v.account, u.reason, v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM (
    SELECT s.account, s.cron_pattern, ferry.cron_unread(s.cron_pattern) AS reason
    FROM (
      SELECT DISTINCT v.account, v.cron_pattern FROM ferry.alert_rule_versions v
      WHERE v.valid_to IS NULL AND v.enabled AND octet_length(v.cron_pattern) <= 400 AND coalesce(octet_length(v.timezone), 0) <= 100
    ) s
    OFFSET 0
  ) u
  CROSS JOIN LATERAL (
    SELECT v.* FROM ferry.alert_rule_versions v
    WHERE v.account = u.account AND v.cron_pattern = u.cron_pattern
      AND v.valid_to IS NULL AND v.enabled AND octet_length(v.cron_pattern) <= 400 AND coalesce(octet_length(v.timezone), 0) <= 100
      AND NOT coalesce(v.flags && '{cron_pattern names a time zone,cron_pattern has not 5 fields}', false)
    OFFSET 0
  ) v
  WHERE u.reason IS NOT NULL
  UNION ALL
  SELECT v.account, ferry.cron_unread(v.cron_pattern), v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NULL AND v.enabled AND octet_length(v.cron_pattern) > 400
    AND NOT coalesce(v.flags && '{cron_pattern names a time zone,cron_pattern has not 5 fields}', false)
  ORDER BY account, reason, folder_id, name, id;

COMMENT ON VIEW ferry.rules_contract_breaks IS 'The current alert rules that break what the platform requires of cron_pattern and timezone, and the enabled ones whose cron_pattern Ferry cannot read, so that cron_load leaves them out: one row for each rule and reason.';
SELECT ferry.describe_columns('ferry.rules_contract_breaks', 'ferry.alert_rule_versions');
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

COMMENT ON VIEW ferry.rules_debug_left_on IS 'The current alert rules with debug logging on, the longest first: since when, and who had updated them last then.';
SELECT ferry.describe_columns('ferry.rules_debug_left_on', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_debug_left_on.since IS 'Since when it is on, as observed.';
COMMENT ON COLUMN ferry.rules_debug_left_on.on_for IS 'How long it is on.';
COMMENT ON COLUMN ferry.rules_debug_left_on.switch_seen IS 'Whether Ferry saw it being switched on. If not, it was on when the rule was first seen. Null: not known, because what was before history_start() was removed; then it may have been on earlier.';
COMMENT ON COLUMN ferry.rules_debug_left_on.updater_id IS 'Who had updated the rule last at that moment, according to the platform.';
COMMENT ON COLUMN ferry.rules_debug_left_on.updater_name IS 'The name of that person.';
--> statement-breakpoint
-- Finds the rules in two indexes alone, both in the order of ids: those it returns, where it can stop early, and how many
-- there are. A hash of all episodes would take three times as long. A rule is observed while it is there and enabled, from the
-- start of the history on: episodes that ended before were removed.
CREATE OR REPLACE FUNCTION ferry.rules_never_fired(at_most integer DEFAULT 1000, of_account text DEFAULT NULL)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, first_seen timestamptz,
  days_observed double precision, updater_name text, in_all integer
) LANGUAGE sql STABLE SET jit = off SET enable_hashjoin = off SET enable_seqscan = off AS $$
  WITH silent AS NOT MATERIALIZED (
    SELECT c.id, c.account FROM ferry.alert_rule_versions c
    WHERE c.valid_to IS NULL AND c.enabled AND ($2 IS NULL OR c.account = $2)
      AND NOT EXISTS (SELECT FROM ferry.alert_rule_firings f WHERE f.id = c.id AND f.account = c.account)
  )
  SELECT v.account, v.id, v.name, v.folder_id, v.team, b.valid_from,
    (extract(epoch FROM b.observed) / 86400)::float8 AS days_observed,
    v.updater_name, (SELECT count(*)::int FROM silent)
  FROM (SELECT * FROM silent ORDER BY id, account LIMIT $1) s
  CROSS JOIN (SELECT ferry.history_start() AS starts_at) h
  JOIN ferry.alert_rule_versions v ON v.id = s.id AND v.account = s.account AND v.valid_to IS NULL
  CROSS JOIN LATERAL (
    SELECT min(b.valid_from) AS valid_from, coalesce(
      sum(coalesce(b.valid_to, clock_timestamp()) - greatest(b.valid_from, h.starts_at))
        FILTER (WHERE b.enabled AND coalesce(b.valid_to, clock_timestamp()) > h.starts_at), interval '0') AS observed
    FROM ferry.alert_rule_versions b WHERE b.id = s.id AND b.account = s.account
  ) b
  ORDER BY days_observed DESC, v.id, v.account
$$;

COMMENT ON FUNCTION ferry.rules_never_fired IS 'The enabled alert rules that were never seen firing, the longest observed first: at most so many (1,000 by default, null for all), those with the lowest ids, of one account if it is named; in_all says how many there are. first_seen: when the oldest version that is kept began. days_observed: for how long the rule was there and enabled, from history_start() on: what fired before is not known. An alert that began and ended between two polls was not seen.';
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

COMMENT ON VIEW ferry.rules_switched_off IS 'The current alert rules that are disabled, the youngest case first: since when, and who had updated them last then.';
SELECT ferry.describe_columns('ferry.rules_switched_off', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_switched_off.since IS 'Since when it is disabled, as observed.';
COMMENT ON COLUMN ferry.rules_switched_off.off_for IS 'How long it is disabled.';
COMMENT ON COLUMN ferry.rules_switched_off.switch_seen IS 'Whether Ferry saw it being disabled. If not, it was disabled when the rule was first seen. Null: not known, because what was before history_start() was removed; then it may have been disabled earlier.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_id IS 'Who had updated the rule last at that moment, according to the platform.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_name IS 'The name of that person.';
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
    SELECT * FROM ferry.alert_rule_versions b
    WHERE b.id = f.id AND b.account = f.account AND b.valid_from < f.at ORDER BY b.valid_from DESC LIMIT 1
  ) b
  LEFT JOIN ferry.alert_rule_versions a ON a.id = f.id AND a.account = f.account AND a.valid_from = f.at
  LEFT JOIN LATERAL (
    SELECT array_agg(n.key ORDER BY n.key) AS fields
    FROM jsonb_each(to_jsonb(a)) n JOIN jsonb_each(to_jsonb(b)) o ON o.key = n.key
    WHERE n.value <> o.value AND n.key <> ALL (
      '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,appeared,team,updater_id,updater_name,updated_at}'::text[])
  ) d ON a.id IS NOT NULL
  ORDER BY f.at DESC, f.account, f.id
$$;

COMMENT ON FUNCTION ferry.silenced IS 'Alert rules that were disabled, removed or edited while they fired or soon after (an hour by default), since a time (null: seven days ago), the newest first. what: disabled, removed or edited, with the fields that differ. updater_id and updater_name: who, according to the platform, which does not say who removes a rule. began and ended: the episode; while_firing: whether it had not ended before.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.time_to_clear(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, team text, episodes integer, p50 interval, p90 interval, longest interval, removed integer, began_unseen integer
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH ended AS MATERIALIZED (
    -- Once for each: what is inlined is looked up as often as it is named.
    SELECT e.account, e.id, e.began, e.ended, e.began_seen, e.was_cleared
    FROM ferry.episodes(coalesce($1, now() - interval '7 days')) e WHERE e.ended IS NOT NULL
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
-- Only IANA names, as the contract wants them: Postgres also takes abbreviations and POSIX texts such as UTC+8, which is eight
-- hours WEST of UTC. It takes some IANA names for abbreviations, which have no summer time: these are read by another name of the
-- same zone. pg_timezone_names has them all, and takes a tenth of a second.
CREATE OR REPLACE FUNCTION ferry.zone_of(p_timezone text) RETURNS text
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

COMMENT ON FUNCTION ferry.zone_of IS 'The time zone in which the platform reads a rule''s schedule: Asia/Shanghai if the rule has none, or names one that is not an IANA name, or that this Postgres does not know.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.alert_rules_as_of(at timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), account_id numeric(20, 0), folder_id numeric(20, 0), name text, labels jsonb,
  ds_type text, enabled boolean, debug_log_enabled boolean, cron_pattern text, timezone text,
  delay_seconds bigint, creator_id numeric(20, 0), creator_name text, updater_id numeric(20, 0),
  updater_name text, created_at bigint, updated_at bigint, triggered boolean,
  valid_from timestamptz, valid_to timestamptz, opened_by_run bigint, closed_by_run bigint,
  fingerprint uuid, flags text[], altered text[]
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.id, v.account_id, v.folder_id, v.name, v.labels, v.ds_type, v.enabled, v.debug_log_enabled,
    v.cron_pattern, v.timezone, v.delay_seconds, v.creator_id, v.creator_name, v.updater_id, v.updater_name,
    v.created_at, v.updated_at,
    -- Episodes do not overlap: the youngest begun by then decides. (As EXISTS it would be hashed: all episodes read.)
    coalesce((SELECT f.ended IS NULL OR f.ended > $1 FROM ferry.alert_rule_firings f
              WHERE f.id = v.id AND f.account = v.account AND f.began <= $1
              ORDER BY f.began DESC LIMIT 1), false) AS triggered,
    v.valid_from, v.valid_to, v.opened_by_run, v.closed_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.alert_rule_versions v
  WHERE v.valid_from <= $1 AND coalesce(v.valid_to, 'infinity') > $1
    AND ferry.expect_history($1)
$$;

COMMENT ON FUNCTION ferry.alert_rules_as_of IS 'The alert rules as they were known at a moment; the columns of alert_rules, and valid_to and closed_by_run. For a moment up to settled_at() the answer never changes.';
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
    greatest(g.at + i.promise, g.finished_at), g.next_finished_at,
    l.error_code
  FROM (
    SELECT n.account, n.inventory, p.promise, p.folders, s.since, coalesce(
      (SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= s.since ORDER BY r.started_at LIMIT 1),
      9223372036854775807) AS run_since
    FROM ferry.inventories n
    JOIN ferry.inventory_promises p ON p.account = n.account AND p.resource = n.inventory
    CROSS JOIN LATERAL (
      SELECT greatest(coalesce($1, now() - interval '7 days'), now() - p.runs_kept) AS since
    ) s
    OFFSET 0
  ) i
  CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT c.id, c.at, c.finished_at, lead(c.id) OVER w AS next_id, lead(c.at) OVER w AS next_at, lead(c.finished_at) OVER w AS next_finished_at
      FROM (
        SELECT r.id, least(r.started_at, r.finished_at) AS at, r.finished_at FROM ferry.complete_runs r
        WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders IN (i.folders, '["0"]')
          -- Two looks into the index, each in its order.
          AND r.id >= greatest(
            (SELECT e.id FROM ferry.complete_runs e
             WHERE e.account = i.account AND e.inventory = i.inventory AND e.folders = i.folders AND e.id < i.run_since
             ORDER BY e.id DESC LIMIT 1),
            (SELECT e.id FROM ferry.complete_runs e
             WHERE e.account = i.account AND e.inventory = i.inventory AND e.folders = '["0"]' AND e.id < i.run_since
             ORDER BY e.id DESC LIMIT 1), 0)
      ) c
      WINDOW w AS (ORDER BY c.id)
    ) o
    WHERE coalesce(o.next_finished_at, now()) > greatest(o.at + i.promise, i.since)
  ) g
  LEFT JOIN LATERAL (
    SELECT r.error_code FROM ferry.sync_runs r
    WHERE r.account = i.account AND r.resource = i.inventory AND r.id > g.id AND r.id < coalesce(g.next_id, r.id + 1)
      AND r.status IN ('failed', 'partial')
    ORDER BY r.id DESC LIMIT 1
  ) l ON true
  ORDER BY g.at DESC, i.account, i.inventory
$$;

COMMENT ON FUNCTION ferry.blind_spots IS 'When nothing complete was read for longer than promised, the latest first: account, inventory, from (the last complete listing before it), to (the next one; null if there is none yet), lasted, late_from and fresh_again_at (between them the data was older than promised), error_code (of the last run in it that failed). Since: 7 days ago by default.';
--> statement-breakpoint
-- Rules have few distinct schedules, which an index alone counts. A schedule that is the same in every hour needs no time zone
-- but for the minutes of its offset; of the others, each local time of the week is turned into an instant. Where clocks are
-- changed, it is as in cron-parser: a schedule of every hour is due in each hour that there is. Another one is due an hour later if
-- its hour is left out, and once in an hour that comes twice: in the first one.
CREATE OR REPLACE FUNCTION ferry.cron_load(week timestamptz DEFAULT NULL, worst integer DEFAULT 60, of_account text DEFAULT NULL)
RETURNS TABLE (
  account text, rank integer, minute timestamptz, evaluations integer, average double precision
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH span AS MATERIALIZED (
    SELECT date_trunc('week', coalesce($1, now()), 'UTC') AS begins, date_trunc('week', coalesce($1, now()), 'UTC') + interval '7 days' AS ends
  ), schedules AS MATERIALIZED (
    SELECT v.account, v.cron_pattern, v.timezone, count(*) AS rules FROM ferry.alert_rule_versions v
    WHERE v.valid_to IS NULL AND v.enabled AND ($3 IS NULL OR v.account = $3) AND octet_length(v.cron_pattern) <= 400 AND coalesce(octet_length(v.timezone), 0) <= 100
    GROUP BY v.account, v.cron_pattern, v.timezone
  ), zones AS MATERIALIZED (
    SELECT o.timezone, o.zone, o.earlier <> o.later AS has_change, o.earlier - o.later AS set_back
    FROM span w
    CROSS JOIN (
      SELECT z.timezone, ferry.zone_of(z.timezone) AS zone FROM (SELECT DISTINCT s.timezone FROM schedules s) z
    ) z
    CROSS JOIN LATERAL (
      SELECT z.timezone, z.zone, (w.begins - interval '1 day') AT TIME ZONE z.zone - (w.begins - interval '1 day') AT TIME ZONE 'UTC' AS earlier,
        (w.ends + interval '1 day') AT TIME ZONE z.zone - (w.ends + interval '1 day') AT TIME ZONE 'UTC' AS later
    ) o
  ), patterns AS MATERIALIZED (
    SELECT p.cron_pattern, ferry.cron_field(p.fields[1], 0, 59) AS minutes, ferry.cron_field(p.fields[2], 0, 23) AS hours,
      ferry.cron_field(p.fields[3], 1, 31) AS days, ferry.cron_field(p.fields[4], 1, 12) AS months,
      ferry.cron_field(p.fields[5], 0, 7) AS weekdays,
      -- A day matches if either the day of the month or the weekday does, if both are restricted.
      p.fields[3] IN ('*', '?') AS is_any_day, p.fields[5] IN ('*', '?') AS is_any_weekday
    FROM (
      SELECT c.cron_pattern, regexp_split_to_array(btrim(c.cron_pattern), '\s+') AS fields
      FROM (SELECT DISTINCT s.cron_pattern FROM schedules s) c
    ) p
    WHERE cardinality(p.fields) = 5
  ), known AS MATERIALIZED (
    SELECT s.account, z.zone, p.minutes, p.hours, p.days, p.months, p.weekdays, p.is_any_day, p.is_any_weekday, z.has_change, z.set_back, sum(s.rules) AS rules,
      extract(minute FROM w.begins AT TIME ZONE z.zone)::int AS shift,
      cardinality(p.hours) = 24 AND cardinality(p.days) = 31 AND cardinality(p.months) = 12 AND cardinality(p.weekdays) = 7
        AND extract(minute FROM w.begins AT TIME ZONE z.zone) = extract(minute FROM w.ends AT TIME ZONE z.zone) AS is_hourly
    FROM span w CROSS JOIN schedules s
    JOIN zones z ON z.timezone IS NOT DISTINCT FROM s.timezone
    JOIN patterns p ON p.cron_pattern = s.cron_pattern
    WHERE p.minutes IS NOT NULL AND p.hours IS NOT NULL AND p.days IS NOT NULL AND p.months IS NOT NULL AND p.weekdays IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14
  ), hourly AS MATERIALIZED (
    SELECT k.account, (m + 60 - k.shift) % 60 AS minute, sum(k.rules) AS rules
    FROM known k CROSS JOIN LATERAL unnest(k.minutes) AS m WHERE k.is_hourly GROUP BY 1, 2
  ), dated AS MATERIALIZED (
    SELECT k.account, i.minute, sum(k.rules) AS rules
    FROM span w CROSS JOIN known k
    CROSS JOIN LATERAL generate_series(
      date_trunc('day', w.begins AT TIME ZONE k.zone), date_trunc('day', w.ends AT TIME ZONE k.zone), interval '1 day') AS d (day)
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

COMMENT ON FUNCTION ferry.cron_load IS 'How many evaluations the enabled alert rules cause in each minute of a week (from Monday 00:00 UTC; null: this week), by cron_pattern and timezone, the worst minutes first: 60 of each account by default, null for all 10,080; of one account if it is named. average: evaluations of a minute, over the whole week. A pattern that cannot be read, or is longer than 400 bytes, is left out; rules_contract_breaks lists these rules.';
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
    JOIN ferry.inventory_promises p ON p.account = i.account AND p.resource = i.inventory
    -- From the first complete listing on.
    CROSS JOIN LATERAL (
      SELECT o.finished_at FROM (
        (SELECT r.id, r.finished_at FROM ferry.complete_runs r
         WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders = p.folders
         ORDER BY r.id LIMIT 1)
        UNION ALL
        (SELECT r.id, r.finished_at FROM ferry.complete_runs r
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

COMMENT ON FUNCTION ferry.freshness_daily IS 'For how much of each day each inventory was as fresh as promised: account, inventory, day (in FERRY_TIMEZONE), minutes that are over, fresh_minutes, and share of them. A day begins with the first complete listing, and today ends now. Since: 7 days ago by default.';
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
    FROM ferry.episodes(coalesce($1, now() - interval '7 days')) e
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
    SELECT z.timezone, ferry.zone_of(z.timezone) AS zone FROM (SELECT DISTINCT r.timezone FROM rules r) z
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

COMMENT ON FUNCTION ferry.rules_noisy IS 'The alert rules that fired since a time (null: seven days ago), the one with the most episodes first: at most so many (null: all), of one account if it is named; in_all says how many there are. An episode that was not seen to begin (a first reading found the rule firing, or it appeared so) counts only in hours, and a rule with no other is left out. hours: how long they fired in that time. flaps: episodes that began at most flap_within after the one before had ended. night_share: the share of episodes that began before day_begins or from day_ends on, in the rule''s own time zone (Asia/Shanghai if it has none).';
--> statement-breakpoint
WITH first AS (
  SELECT r.account, f.folder, min(r.id) AS run FROM ferry.sync_runs r
  CROSS JOIN LATERAL jsonb_array_elements_text(
    CASE WHEN jsonb_typeof(r.scope -> 'folders') = 'array' THEN r.scope -> 'folders' ELSE '["0"]' END) AS f (folder)
  WHERE r.resource = 'alert-rules' AND r.status IN ('succeeded', 'held') GROUP BY r.account, f.folder
)
UPDATE ferry.alert_rule_versions v SET appeared = 'first reading'
WHERE NOT EXISTS (
    SELECT FROM ferry.alert_rule_versions p WHERE p.id = v.id AND p.account = v.account AND p.valid_from < v.valid_from)
  AND NOT EXISTS (
    SELECT FROM first f WHERE f.account = v.account AND f.folder IN ('0', v.folder_id::text) AND f.run < v.opened_by_run);
--> statement-breakpoint
WITH first AS (
  SELECT r.account, min(r.id) AS run FROM ferry.sync_runs r
  WHERE r.resource = 'mcp-servers' AND r.status IN ('succeeded', 'held') GROUP BY r.account
)
UPDATE ferry.mcp_server_versions v SET appeared = 'first reading'
WHERE NOT EXISTS (
    SELECT FROM ferry.mcp_server_versions p
    WHERE p.server_id = v.server_id AND p.account = v.account AND p.valid_from < v.valid_from)
  AND NOT EXISTS (SELECT FROM first f WHERE f.account = v.account AND f.run < v.opened_by_run);
--> statement-breakpoint
UPDATE ferry.sync_runs r SET first_read = o.rows
FROM (
  SELECT opened_by_run AS run, count(*)::integer AS rows FROM ferry.alert_rule_versions WHERE appeared = 'first reading' GROUP BY 1
  UNION ALL
  SELECT opened_by_run, count(*)::integer FROM ferry.mcp_server_versions WHERE appeared = 'first reading' GROUP BY 1
) o
WHERE r.id = o.run;
--> statement-breakpoint
-- Until now the platform's own words stood there, which may name a person.
UPDATE ferry.imports SET pause_message = NULL
WHERE pause_code IS NOT NULL AND pause_code NOT IN ('FirstRowsSent', 'UncertainElsewhere', 'TooManyRejects');
