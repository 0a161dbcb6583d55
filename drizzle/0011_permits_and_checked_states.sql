-- States are checked, comments are in plain words, and functions that only Ferry calls have other names and parameters:
-- workers of an older version must have stopped.
ALTER TABLE "ferry"."platform_limits" ADD COLUMN "blocked_by" bigint;--> statement-breakpoint
ALTER TABLE "ferry"."contract_drift" ADD CONSTRAINT "contract_drift_resource" CHECK ("ferry"."contract_drift"."resource" in ('alert-rules', 'mcp-servers')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."contract_drift" VALIDATE CONSTRAINT "contract_drift_resource";--> statement-breakpoint
ALTER TABLE "ferry"."removal_holds" ADD CONSTRAINT "removal_holds_resource" CHECK ("ferry"."removal_holds"."resource" in ('alert-rules', 'mcp-servers')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."removal_holds" VALIDATE CONSTRAINT "removal_holds_resource";--> statement-breakpoint
ALTER TABLE "ferry"."removal_holds" ADD CONSTRAINT "removal_holds_outcome" CHECK ("ferry"."removal_holds"."outcome" in ('approved', 'voided', 'rejected')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."removal_holds" VALIDATE CONSTRAINT "removal_holds_outcome";--> statement-breakpoint
ALTER TABLE "ferry"."snapshots" ADD CONSTRAINT "snapshots_status" CHECK ("ferry"."snapshots"."status" in ('succeeded', 'partial', 'held')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."snapshots" VALIDATE CONSTRAINT "snapshots_status";--> statement-breakpoint
ALTER TABLE "ferry"."sync_runs" ADD CONSTRAINT "sync_runs_resource" CHECK ("ferry"."sync_runs"."resource" in ('alert-rules', 'mcp-servers')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."sync_runs" VALIDATE CONSTRAINT "sync_runs_resource";--> statement-breakpoint
ALTER TABLE "ferry"."sync_runs" ADD CONSTRAINT "sync_runs_trigger" CHECK ("ferry"."sync_runs"."trigger" in ('schedule', 'manual', 'catch-up')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."sync_runs" VALIDATE CONSTRAINT "sync_runs_trigger";--> statement-breakpoint
ALTER TABLE "ferry"."sync_runs" ADD CONSTRAINT "sync_runs_status" CHECK ("ferry"."sync_runs"."status" in ('running', 'succeeded', 'partial', 'held', 'failed', 'skipped')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."sync_runs" VALIDATE CONSTRAINT "sync_runs_status";--> statement-breakpoint
ALTER TABLE "ferry"."import_batches" ADD CONSTRAINT "import_batches_state" CHECK ("ferry"."import_batches"."state" in ('ready', 'in flight', 'sent', 'uncertain', 'doubted', 'rejected', 'left out', 'split')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."import_batches" VALIDATE CONSTRAINT "import_batches_state";--> statement-breakpoint
ALTER TABLE "ferry"."import_left_out" ADD CONSTRAINT "import_left_out_kind" CHECK ("ferry"."import_left_out"."kind" in ('duplicate', 'suppressed', 'already imported')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."import_left_out" VALIDATE CONSTRAINT "import_left_out_kind";--> statement-breakpoint
ALTER TABLE "ferry"."import_rejects" ADD CONSTRAINT "import_rejects_origin" CHECK ("ferry"."import_rejects"."origin" in ('file', 'platform')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."import_rejects" VALIDATE CONSTRAINT "import_rejects_origin";--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD CONSTRAINT "imports_status" CHECK ("ferry"."imports"."status" in ('staging', 'queued', 'running', 'paused', 'undecided', 'completed', 'cancelled')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."imports" VALIDATE CONSTRAINT "imports_status";--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD CONSTRAINT "imports_on_uncertain" CHECK ("ferry"."imports"."on_uncertain" in ('resend', 'hold')) NOT VALID;--> statement-breakpoint
ALTER TABLE "ferry"."imports" VALIDATE CONSTRAINT "imports_on_uncertain";
--> statement-breakpoint
COMMENT ON TABLE ferry.import_batches IS 'Rows that are sent in one call: the recipients of an import from one line to another. The batches that are not split say what became of every recipient in their range.';
COMMENT ON COLUMN ferry.import_batches.state IS 'ready: to be sent; in flight; sent: the platform accepted it; doubted: one row that the platform refused alone, a reject once another call is accepted; uncertain: the outcome is unknown, and a person decides; rejected: all its rows are among the rejects; left out: other imports had sent all its rows before; split: smaller batches took its place.';
COMMENT ON COLUMN ferry.import_batches.uncertain IS 'Whether it was sent with an outcome that is unknown, and no certain outcome has followed.';
COMMENT ON COLUMN ferry.import_batches.claimed_at IS 'When a worker last claimed it to send it; null if none ever did.';
COMMENT ON COLUMN ferry.import_batches.claim_ends_at IS 'When a batch in flight without an outcome becomes uncertain, whatever happened to its worker.';
COMMENT ON COLUMN ferry.import_batches.call_id IS 'The last call that sent it (platform_calls.id); null if it was never sent.';
COMMENT ON COLUMN ferry.import_batches.error_code IS 'The platform''s error code in the last answer, or why there was no answer; null if there was no error.';
COMMENT ON COLUMN ferry.import_batches.message IS 'What the platform answered to the last call, or what went wrong, without recipients; null if nothing went wrong.';
COMMENT ON COLUMN ferry.import_batches.reasons IS 'What the platform answered about lines set aside or doubted, without recipients: code, message and request_id, by line.';
COMMENT ON TABLE ferry.import_left_out IS 'Rows that were left out on purpose. Nothing is wrong with them. Holds personal data until the import is purged.';
COMMENT ON TABLE ferry.import_recipients IS 'The people to be imported, one row each. A row is not rewritten while it is sent: the batch whose range of lines contains it says what became of it. Holds personal data until the import is purged.';
COMMENT ON COLUMN ferry.import_recipients.maybe_sent IS 'How often other imports may have sent the recipient to the page before, with an unknown outcome: its batch counts as sent again. Null if none did.';
COMMENT ON TABLE ferry.import_rejects IS 'Rows that were not imported because something is wrong with them, found by Ferry''s checks or by the platform. `ferry imports rejects` writes them to a file. Holds personal data until the import is purged.';
COMMENT ON COLUMN ferry.import_rejects.reason IS 'What is wrong. The same mistake has the same words in every row.';
COMMENT ON COLUMN ferry.import_rejects.column IS 'The column of the file that is wrong; null if it is not a single one.';
COMMENT ON TABLE ferry.imports IS 'One row for every file that was staged for import. Its rows are in import_recipients, import_rejects and import_left_out, each in exactly one of them.';
COMMENT ON COLUMN ferry.imports.status IS 'staging: read, and not confirmed yet; queued; running; paused: see pause_code; undecided: everything is sent, but for some rows the outcome is unknown; completed; cancelled.';
COMMENT ON COLUMN ferry.imports.on_uncertain IS 'What happens to a batch whose outcome is unknown: resend or hold.';
COMMENT ON COLUMN ferry.imports.update_existing IS 'Whether people whom an earlier import has sent are sent again if their settings differ.';
COMMENT ON COLUMN ferry.imports.batch_rows IS 'The maximum number of rows in one call, as it was asked for.';
COMMENT ON COLUMN ferry.imports.first_rows IS 'The import pauses after this many rows have been sent; null if it was not asked to, or has done so.';
COMMENT ON COLUMN ferry.imports.confirmed_at IS 'When a person confirmed it; null before that. An unconfirmed import is removed after 24 hours.';
COMMENT ON COLUMN ferry.imports.started_at IS 'When the people already imported had been left out and sending began; null before that.';
COMMENT ON COLUMN ferry.imports.finished_at IS 'When it was completed or cancelled; null before that.';
COMMENT ON COLUMN ferry.imports.batched_to IS 'Batches have been made up to this line; recipients after it are pending.';
COMMENT ON COLUMN ferry.imports.most_rows IS 'The maximum number of rows that the platform seems to accept in one call, learned from a 413; null if there was none.';
COMMENT ON COLUMN ferry.imports.unaccepted IS 'Calls in a row that the platform refused because of their content.';
COMMENT ON COLUMN ferry.imports.most_rejects IS 'The import pauses when the platform has rejected more rows than this, and more than one in a hundred.';
COMMENT ON COLUMN ferry.imports.wants_at IS 'When it last had to wait for a permit: imports that share a limit take turns. Null if it never had to wait.';
COMMENT ON COLUMN ferry.imports.wants_limit IS 'The limit it waited for (platform_limits.limit_key); null if it never had to wait.';
COMMENT ON COLUMN ferry.imports.served_at IS 'When it last got a permit; null if it never got one.';
COMMENT ON COLUMN ferry.imports.pause_code IS 'Why it is paused: an error code of the platform, or one of Ferry''s own; null unless it is paused.';
COMMENT ON COLUMN ferry.imports.uncertain IS 'Recipients in batches whose outcome is unknown. A batch whose worker was lost counts here once that was noticed, seconds after claim_ends_at.';
COMMENT ON COLUMN ferry.imports.rests_since IS 'When it began to wait for a person, paused or undecided; null if it does not wait.';
COMMENT ON COLUMN ferry.imports.rested_ms IS 'How long it has waited for a person before. This time does not count as time the import took.';
COMMENT ON COLUMN ferry.imports.screening_at IS 'When Ferry began to leave out rows that other imports of the page had sent; null unless it is doing so.';
COMMENT ON TABLE ferry.leases IS 'Which worker does which work. A lease that is not renewed expires, and any worker may take over the work.';
COMMENT ON COLUMN ferry.leases.holder IS 'The host and process that does the work.';
COMMENT ON COLUMN ferry.leases.expires_at IS 'When it expires unless it is renewed.';
COMMENT ON COLUMN ferry.platform_calls.started IS 'When the call got its permit.';
COMMENT ON COLUMN ferry.platform_calls.counted_by IS 'The latest moment at which the platform can have counted it.';
COMMENT ON COLUMN ferry.platform_calls.finished IS 'When the platform''s answer came; null while it is awaited, or if none came. A gateway''s answer is not the platform''s.';
COMMENT ON COLUMN ferry.platform_calls.error_code IS 'The platform''s error code, or why there was no answer; null if there was no error.';
COMMENT ON TABLE ferry.platform_limits IS 'One row for each limit. A worker locks it while it looks at the call log.';
COMMENT ON COLUMN ferry.platform_limits.blocked_until IS 'After a 429, no worker calls before this moment; null if there was never one.';
COMMENT ON COLUMN ferry.platform_limits.blocked_by IS 'The last call that the platform refused because of the limit (platform_calls.id); null if there was none.';
COMMENT ON TABLE ferry.quarantined_rows IS 'Rows that the platform delivered and that could not be applied. A row is stored when it is first met or has changed, and holds until a later run does not meet it any more. If there are very many, a run stores the first ones and counts the rest. The last good version of such a row stays current.';
COMMENT ON COLUMN ferry.quarantined_rows.until_run IS 'The first later run of the same scope that did not meet the row in this form; null if it still holds.';
COMMENT ON COLUMN ferry.quarantined_rows.fingerprint IS 'A hash of id, reason and row, by which later runs recognise it. Null: stored by an earlier version of Ferry, for that run alone.';
COMMENT ON TABLE ferry.removal_holds IS 'Removals that wait for a person, because they are suspiciously many: see `ferry runs approve`. At most one open hold for each account and resource.';
COMMENT ON COLUMN ferry.schedule_slots.attempts IS 'How often it was begun. A time that a worker gave it back does not count.';
COMMENT ON COLUMN ferry.schedule_slots.retry_at IS 'When a worker may take it, unless another one has its lease; null once it is settled.';
COMMENT ON COLUMN ferry.schedule_slots.outcome IS 'The status of its run, or superseded if a later slot took its place; null while it is due.';
COMMENT ON TABLE ferry.snapshots IS 'Named moments, for example nights. A snapshot is a moment in the history of versions, not a copy: read it with alert_rules_as_of(taken_at) and mcp_servers_as_of(taken_at).';
COMMENT ON COLUMN ferry.snapshots.status IS 'succeeded, or the status of the worse of its two runs: partial or held.';
COMMENT ON TABLE ferry.sync_runs IS 'The ledger: one row for every attempt to read an inventory, whatever its outcome. A run that changed nothing is kept for 90 days.';
COMMENT ON COLUMN ferry.sync_runs.trigger IS 'What started it: schedule, manual or catch-up.';
COMMENT ON COLUMN ferry.sync_runs.status IS 'running; succeeded: everything listed is in Postgres; partial: added and changed, removed nothing; held: removals wait for a person; failed: nothing was applied; skipped: another run was already reading the inventory.';
COMMENT ON COLUMN ferry.sync_runs.guard IS 'The removal guard that applied to the run.';
COMMENT ON COLUMN ferry.sync_runs.finished_at IS 'When the run ended; null while it runs, or if its worker was lost and nobody has noticed yet.';
COMMENT ON COLUMN ferry.sync_runs.data_hashes IS 'Hashes of the answers'' data: identical answers need not be compared row by row.';
COMMENT ON COLUMN ferry.sync_runs.message IS 'What happened and what to do; null if there is nothing to report.';
COMMENT ON COLUMN ferry.alert_rule_versions.altered IS 'Fields whose text held a character that Postgres cannot store (U+0000, lone surrogates), which Ferry replaced by a visible one; null if there was none.';
COMMENT ON COLUMN ferry.mcp_server_versions.altered IS 'Fields whose text held a character that Postgres cannot store (U+0000, lone surrogates), which Ferry replaced by a visible one; null if there was none.';
COMMENT ON COLUMN ferry.alert_rule_versions.folder_id IS 'The folder that contains the rule (uint64).';
COMMENT ON COLUMN ferry.alert_rule_versions.timezone IS 'The IANA time zone in which cron_pattern is read; null if the platform sent none. The platform reads an empty one as Asia/Shanghai.';
COMMENT ON TABLE ferry.alert_rule_firings IS 'Episodes in which a rule had an active alert, as observed by the runs. An alert that began and ended between two runs is not recorded.';
COMMENT ON TABLE ferry.contract_drift IS 'Fields that the platform sends and its documentation does not name. Only names and types are stored, never values: they may hold secrets.';
COMMENT ON COLUMN ferry.contract_drift.first_run IS 'The run that first saw it.';
COMMENT ON COLUMN ferry.contract_drift.first_seen_at IS 'When it was first seen.';
COMMENT ON COLUMN ferry.installation.id IS 'Part of the queue''s prefix, so that two databases may share one Redis.';
--> statement-breakpoint
DROP FUNCTION ferry.claim_batch(bigint,text,uuid,uuid,boolean,text,integer[],integer[],integer,integer,integer), ferry.end_import(bigint,boolean), ferry.finish_call(bigint,boolean,integer,text,text,double precision), ferry.settle_claims(bigint), ferry.take_slot(text,text,text,bigint,integer[],integer[],integer);
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
CREATE OR REPLACE FUNCTION ferry.acquire_permit(
  p_limit_key text, p_operation text, p_account text, p_run_id bigint,
  p_max_calls int[], p_window_ms int[], p_arrival_bound_ms int,
  OUT call_id bigint, OUT wait_ms double precision, OUT poll_soon boolean
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

  v_now := clock_timestamp();
  v_free_at := greatest(v_blocked_until, v_now);
  SELECT greatest(v_free_at, max(w.free_at)), coalesce(bool_or(w.is_in_flight), false) INTO v_free_at, poll_soon
    FROM ferry.full_windows(p_limit_key, p_operation, p_max_calls, p_window_ms, v_now) w;

  IF v_free_at > v_now THEN
    wait_ms := extract(epoch FROM v_free_at - v_now) * 1000;
    RETURN;
  END IF;
  INSERT INTO ferry.platform_calls (limit_key, account, operation, started, counted_by, run_id)
    VALUES (p_limit_key, p_account, p_operation, v_now, v_now + p_arrival_bound_ms * interval '1 ms', p_run_id)
    RETURNING id INTO call_id;
END $$;

COMMENT ON FUNCTION ferry.acquire_permit IS 'Records one more call in the call log, or says how long to wait. For Ferry itself.';
--> statement-breakpoint
-- The calls that the platform may still count after p_since, and until when each counts; see full_windows.sql.
-- The planner puts the body in the place of the call. The first comparison follows from the second; it is there for the index.
CREATE OR REPLACE FUNCTION ferry.counted_calls(p_limit_key text, p_operation text, p_since timestamptz)
RETURNS TABLE (started timestamptz, counts_until timestamptz) LANGUAGE sql STABLE AS $$
  SELECT c.started, least(c.finished, c.counted_by) FROM ferry.platform_calls c
  WHERE c.limit_key = p_limit_key AND c.operation = p_operation
    AND c.counted_by > p_since AND least(c.finished, c.counted_by) > p_since
$$;

COMMENT ON FUNCTION ferry.counted_calls IS 'The calls that the platform may still count after an instant. For Ferry itself.';
--> statement-breakpoint
-- Gives the columns of a view the comments of the columns of the same name in the relation they come from: they mean
-- the same. For the files of views; a comment that follows the call replaces what it gave.
CREATE OR REPLACE FUNCTION ferry.describe_columns(p_view regclass, p_source regclass) RETURNS void
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

COMMENT ON FUNCTION ferry.describe_columns IS 'Copies the comments of columns to the view that shows them. For Ferry itself.';
--> statement-breakpoint
-- Records the end of a call. `finished` is the moment when an answer of the platform came. No answer, or a gateway's in
-- its place, proves nothing: the call then counts until counted_by.
--
-- p_is_over_limit: the platform refused the call because of its limit. That moves blocked_until forward, never back, for
-- every worker: by the back-off of the strike (the last one, from that strike on), or by p_retry_after_ms if that is
-- longer. Answers to calls sent before the block are one strike with it. Any other answer ends the strikes.
CREATE OR REPLACE FUNCTION ferry.finish_call(
  p_call_id bigint, p_answered boolean, p_http_status int, p_error_code text, p_request_id text,
  p_is_over_limit boolean, p_retry_after_ms double precision, p_back_off_ms int[]
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_call ferry.platform_calls;
  v_limit ferry.platform_limits;
  v_strikes int;
BEGIN
  UPDATE ferry.platform_calls SET finished = CASE WHEN p_answered THEN clock_timestamp() END,
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
  ELSIF p_answered THEN
    UPDATE ferry.platform_limits SET strikes = 0
      WHERE limit_key = v_call.limit_key AND operation = v_call.operation AND strikes > 0
        AND v_call.started > blocked_until;
  END IF;
END $$;

COMMENT ON FUNCTION ferry.finish_call IS 'Records the end of a call. For Ferry itself.';
--> statement-breakpoint
-- One row for each window of a limit that has no room for another call at p_at: when it will have, and whether that depends
-- on calls in flight, which may well end before their counted_by.
--
-- A call counts in a window until the platform must have forgotten it: the platform counts it at some time between the
-- moment Ferry sent it and least(finished, counted_by). The youngest call but one less than the limit decides: once it has
-- left the window, there is room for one more.
--
-- The planner puts the body in the place of the call.
CREATE OR REPLACE FUNCTION ferry.full_windows(
  p_limit_key text, p_operation text, p_max_calls int[], p_window_ms int[], p_at timestamptz
) RETURNS TABLE (free_at timestamptz, is_in_flight boolean) LANGUAGE sql STABLE AS $$
  SELECT c.counts_until + w.ms * interval '1 ms', c.counts_until > p_at
  FROM unnest(p_max_calls, p_window_ms) AS w (max_calls, ms)
  CROSS JOIN LATERAL (
    SELECT c.counts_until FROM ferry.counted_calls(p_limit_key, p_operation, p_at - w.ms * interval '1 ms') c
    ORDER BY c.counts_until DESC OFFSET w.max_calls - 1 LIMIT 1) c
$$;

COMMENT ON FUNCTION ferry.full_windows IS 'The windows of a limit that have no room for another call, and when they will have. For Ferry itself.';
--> statement-breakpoint
-- Whether p_token has the lease. If it has, nobody takes the lease over until the transaction ends, however long that is.
-- p_in_use: the lease counts as in use until then, see leases.ts. Otherwise its holder renews it meanwhile, however many
-- transactions do the same.
CREATE OR REPLACE FUNCTION ferry.lock_lease(p_name text, p_token uuid, p_in_use boolean) RETURNS boolean
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

COMMENT ON FUNCTION ferry.lock_lease IS 'Locks a lease and returns whether the token has it. For Ferry itself.';
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
--
-- The rows are locked in the order in which everybody locks them: lease, import, limit.
--
-- p_claim is new for every claim, and the same when it is asked for again because no answer came: then the claim that
-- was made is returned, or released if it is not to be sent any more. With p_again it is a claim that has returned its
-- permit, which expired before anything was sent: it gets another one.
--
-- p_largest_first_after: from so many refusals in a row on, the largest batch is claimed instead of the smallest.
-- p_row_overhead_bytes: what a row has in a request besides its values. p_turn_lapses_ms: an import that has not asked for
-- so long does not wait any more. p_note_waiting_every_ms: how often one that waits is written down.
--
-- The two settings: this function is called for every batch, its plans are made before the tables have their size, and
-- they are kept. Without the settings it may read all rows of an import before those of one batch.
CREATE OR REPLACE FUNCTION ferry.claim_batch(
  p_import bigint, p_lease text, p_token uuid, p_claim uuid, p_again boolean, p_limit_key text, p_max_calls int[],
  p_window_ms int[], p_arrival_bound_ms int, p_claim_ms int, p_max_bytes int,
  p_row_overhead_bytes int, p_largest_first_after int, p_turn_lapses_ms int, p_note_waiting_every_ms int,
  OUT what text, OUT status text, OUT wait_ms double precision, OUT poll_soon boolean, OUT batch_id bigint,
  OUT call_id bigint
) LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
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
  v_is_held := ferry.lock_lease(p_lease, p_token, false);
  SELECT * INTO v FROM ferry.imports i WHERE i.id = p_import FOR UPDATE;
  IF NOT v_is_held OR v.status IS DISTINCT FROM 'running' THEN
    PERFORM ferry.release_claim(p_import, p_claim);
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
      WHERE b.import_id = p_import AND ferry.is_expired_claim(b.state, b.claim_ends_at, clock_timestamp())
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
      EXIT WHEN v_batch.id IS NULL OR v_batch.rows - cardinality(v_batch.set_aside) <= v.most_rows IS NOT FALSE;
      PERFORM ferry.split_batch(v_batch.id);
    END LOOP;
    IF v_batch.id IS NULL THEN
      v_max_rows := least(v.batch_rows, v.most_rows, v.first_rows - v.batched - v.rejected_by_platform);
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

  SELECT * INTO v_permit FROM ferry.acquire_permit(
    p_limit_key, 'import-subscribers', v.account, NULL, p_max_calls, p_window_ms, p_arrival_bound_ms);
  IF v_permit.call_id IS NULL THEN
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
    -- One row is always claimed, however large. What other imports may have sent is sent again.
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

COMMENT ON FUNCTION ferry.claim_batch IS 'Claims the next batch of an import with a permit for its call, or says what to do instead. For Ferry itself.';
--> statement-breakpoint
-- Keeps an import's counts of its batches, of the rows in them, and of those sent and uncertain. Whoever changes the
-- rows, state or certainty of a batch must lock the row of the import before the row of the batch.
CREATE OR REPLACE FUNCTION ferry.count_batches() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    UPDATE ferry.imports i SET batches = i.batches + d.batches, batched = i.batched + d.batched, sent = i.sent + d.sent,
        uncertain = i.uncertain + d.uncertain
      FROM (
        SELECT b.import_id, count(*) AS batches, sum(b.rows) AS batched,
          coalesce(sum(b.rows) FILTER (WHERE b.state = 'sent'), 0) AS sent,
          coalesce(sum(b.rows) FILTER (WHERE ferry.is_uncertain_batch(b.state, b.uncertain)), 0) AS uncertain
        FROM new_batches b WHERE b.state <> 'split' GROUP BY b.import_id) d
      WHERE i.id = d.import_id;
  ELSE
    UPDATE ferry.imports i SET batches = i.batches + d.batches, batched = i.batched + d.batched, sent = i.sent + d.sent,
        uncertain = i.uncertain + d.uncertain
      FROM (
        SELECT b.import_id, sum(b.sign) AS batches, sum(b.sign * b.rows) AS batched,
          coalesce(sum(b.sign * b.rows) FILTER (WHERE b.state = 'sent'), 0) AS sent,
          coalesce(sum(b.sign * b.rows) FILTER (WHERE ferry.is_uncertain_batch(b.state, b.uncertain)), 0) AS uncertain
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
  REFERENCING NEW TABLE AS new_batches FOR EACH STATEMENT EXECUTE FUNCTION ferry.count_batches();

CREATE OR REPLACE TRIGGER import_batches_changed AFTER UPDATE ON ferry.import_batches
  REFERENCING OLD TABLE AS old_batches NEW TABLE AS new_batches FOR EACH STATEMENT EXECUTE FUNCTION ferry.count_batches();

COMMENT ON FUNCTION ferry.count_batches IS 'Keeps an import''s counts of batches and of the rows in them. For Ferry itself.';
--> statement-breakpoint
-- Returns the permit of a batch's call that was not made. The caller has locked the import's row.
CREATE OR REPLACE FUNCTION ferry.release_call(p_import bigint, p_call bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  DELETE FROM ferry.platform_calls c WHERE c.id = p_call;
  IF FOUND THEN
    UPDATE ferry.imports i SET requests = i.requests - 1 WHERE i.id = p_import;
  END IF;
END $$;

COMMENT ON FUNCTION ferry.release_call IS 'Returns the permit of a call that was not made. For Ferry itself.';
--> statement-breakpoint
-- Releases a claim with which nothing was sent: its batch is as if it had never been claimed, and its permit is returned.
-- The two settings: see claim_batch.sql.
CREATE OR REPLACE FUNCTION ferry.release_claim(p_import bigint, p_claim uuid) RETURNS void LANGUAGE plpgsql VOLATILE
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
  PERFORM ferry.release_call(p_import, v_call);
END $$;

COMMENT ON FUNCTION ferry.release_claim IS 'Releases a claim with which nothing was sent. For Ferry itself.';
--> statement-breakpoint
-- Keeps how long an import has waited for a person, paused or undecided: this time does not count as time it took. As a
-- trigger it sees every change of status, whoever makes it.
CREATE OR REPLACE FUNCTION ferry.count_rest() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  NEW.rested_ms := OLD.rested_ms
    + coalesce(round(extract(epoch FROM clock_timestamp() - OLD.rests_since) * 1000), 0)::bigint;
  NEW.rests_since := CASE WHEN NEW.status IN ('paused', 'undecided') THEN clock_timestamp() END;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER imports_count_rest BEFORE UPDATE OF status ON ferry.imports
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION ferry.count_rest();

COMMENT ON FUNCTION ferry.count_rest IS 'Keeps how long an import has waited for a person. For Ferry itself.';
--> statement-breakpoint
-- Whether the claim of a batch has expired at p_at: its worker has been silent for longer than the call can last.
-- The planner puts the body in the place of the call, so a query that asks this finds the batches by the partial index
-- import_batches_in_flight and need not test the state too.
CREATE OR REPLACE FUNCTION ferry.is_expired_claim(p_state text, p_claim_ends_at timestamptz, p_at timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_state = 'in flight' AND p_claim_ends_at <= p_at;

COMMENT ON FUNCTION ferry.is_expired_claim IS 'Whether a batch in this state, with this end of its claim, has an expired claim at an instant.';
--> statement-breakpoint
-- Whether the recipients of a batch are still to be sent, or to be decided about after a call.
CREATE OR REPLACE FUNCTION ferry.is_open_batch(p_state text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_state IN ('ready', 'in flight', 'doubted');

COMMENT ON FUNCTION ferry.is_open_batch IS 'Whether the recipients of a batch in this state are still to be sent.';
--> statement-breakpoint
-- Whether it is not known if the platform took a batch: it is held for a person, or it is still to be sent after an
-- outcome that was not certain. A batch with an expired claim (is_expired_claim) is uncertain too, as soon as that is
-- recorded.
CREATE OR REPLACE FUNCTION ferry.is_uncertain_batch(p_state text, p_uncertain boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_state = 'uncertain' OR (p_uncertain AND ferry.is_open_batch(p_state));

COMMENT ON FUNCTION ferry.is_uncertain_batch IS 'Whether it is not known if the platform took a batch in this state, with this value of uncertain.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.alert_rules AS
  SELECT v.account, v.id, v.account_id, v.folder_id, v.name, v.labels, v.ds_type, v.enabled, v.debug_log_enabled,
    v.cron_pattern, v.timezone, v.delay_seconds, v.creator_id, v.creator_name, v.updater_id, v.updater_name,
    v.created_at, v.updated_at,
    EXISTS (SELECT FROM ferry.alert_rule_firings f
            WHERE f.id = v.id AND f.account = v.account AND f.ended IS NULL) AS triggered,
    v.valid_from, v.opened_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NULL;

COMMENT ON VIEW ferry.alert_rules IS 'The current alert rules.';
SELECT ferry.describe_columns('ferry.alert_rules', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rules.triggered IS 'Whether the rule had an active alert when it was last read.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.alert_rules_firing AS
  SELECT f.account, f.id, v.name, v.folder_id, v.labels, f.began, clock_timestamp() - f.began AS firing_for
  FROM ferry.alert_rule_firings f
  LEFT JOIN ferry.alert_rule_versions v ON v.id = f.id AND v.account = f.account AND v.valid_to IS NULL
  WHERE f.ended IS NULL;

COMMENT ON VIEW ferry.alert_rules_firing IS 'The rules that are firing, and since when.';
SELECT ferry.describe_columns('ferry.alert_rules_firing', 'ferry.alert_rule_firings');
SELECT ferry.describe_columns('ferry.alert_rules_firing', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.alert_rules_firing.firing_for IS 'How long it has been firing, as observed.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.mcp_server_tools AS
  SELECT v.account, v.server_id, v.server_name, t.position, t.tool ->> 'name' AS name,
    t.tool ->> 'description' AS description
  FROM ferry.mcp_server_versions v
  CROSS JOIN LATERAL jsonb_array_elements(v.tools) WITH ORDINALITY AS t (tool, position)
  WHERE v.valid_to IS NULL;

COMMENT ON VIEW ferry.mcp_server_tools IS 'The recorded tools of the current MCP servers, one row each.';
SELECT ferry.describe_columns('ferry.mcp_server_tools', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_server_tools.position IS 'Where the tool stands in the server''s list, from 1.';
COMMENT ON COLUMN ferry.mcp_server_tools.name IS 'The tool''s name.';
COMMENT ON COLUMN ferry.mcp_server_tools.description IS 'What the tool does.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.mcp_servers AS
  SELECT v.account, v.server_id, v.account_id, v.team_id, v.can_edit, v.server_name, v.description, v.transport,
    v.url, v.status, v.connect_timeout, v.call_timeout, v.tool_count, v.tools, v.auth_mode, v.created_by,
    v.created_at, v.updated_at, v.valid_from, v.opened_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.mcp_server_versions v
  WHERE v.valid_to IS NULL;

COMMENT ON VIEW ferry.mcp_servers IS 'The current MCP servers.';
SELECT ferry.describe_columns('ferry.mcp_servers', 'ferry.mcp_server_versions');
