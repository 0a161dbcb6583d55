ALTER TABLE "ferry"."history" ADD COLUMN "runs_start_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ferry"."freshness_targets" ADD COLUMN "target_before" interval;--> statement-breakpoint
ALTER TABLE "ferry"."freshness_targets" ADD COLUMN "target_changed_at" timestamp with time zone DEFAULT '-infinity' NOT NULL;--> statement-breakpoint
ALTER TABLE "ferry"."freshness_targets" ADD COLUMN "nightly_cron" text;--> statement-breakpoint
ALTER TABLE "ferry"."freshness_targets" ADD COLUMN "night_since" timestamp with time zone DEFAULT '-infinity' NOT NULL;
--> statement-breakpoint
COMMENT ON TABLE ferry.platform_limits IS 'One row for each limit, and for each account of one that several share. A worker locks them while it looks at the call log.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.action IS 'What was done, in the words of the commands: sync, approve, reject, confirm, pause, resume, cancel, resolve, purge, run or send (a message again).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.subject_kind IS 'What it was done to: a run, an import, a schedule or an event.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.audit.subject_id IS 'Which one: sync_runs.id, imports.id, events.id or the name of the schedule.';
--> statement-breakpoint
-- The index of current rules answers alone only where vacuum has been. And a version that ends stays on its page if that has
-- room: otherwise each makes Postgres write another page as well, and after a checkpoint pages are logged whole.
ALTER TABLE ferry.alert_rule_versions
  SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.partly_approved IS 'Whether it waits for a person, however few of its rows are still missing. All do; a worker of 0.2.0 asks for it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.outcome IS 'How it ended: approved (they were removed), voided (a later complete listing had its rows again, or a run held rows of other folders) or rejected (a person said that they are not gone).';
--> statement-breakpoint
COMMENT ON TABLE ferry.history IS 'From when on the history is complete. No row for as long as nothing of it was removed for its age.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.history.starts_at IS 'Versions and firings that ended before may have been removed. -infinity if none have been.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.history.runs_start_at IS 'Runs that changed nothing and finished before may have been removed: reports look no farther back for what was not read. Null if none have been.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.target_before IS 'How old the data might be before the last change of target; changes within a day count as one. Null if it was never changed.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.target_changed_at IS 'When target was changed last, or first within that day: reports judge the time before by target_before.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.nightly_cron IS 'FERRY_NIGHTLY_CRON: when a night is due, in this time zone. Null if no worker has said it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.freshness_targets.night_since IS 'The first time at which a night is due so, if another time was set before: nights before it do not count as missed.';
--> statement-breakpoint
-- Records one more call in the call log, or says how long to wait, as record_call.sql has it. Until the transaction ends, its
-- caller may record more calls with that function alone.
--
-- The row of platform_limits is locked first. Each statement of a volatile plpgsql function has a snapshot of its own, so
-- the count that follows sees all calls that were recorded before the lock was granted. One statement that locked and
-- counted would count with a snapshot older than the lock, and would let too many calls through.
--
-- p_accounts: those that share the limit. Other settings may count their calls under other keys, as while a `limitGroup` is changed by a
-- rolling restart. So the row that each account has alone is locked too, whatever the key is, and nothing is recorded while calls count
-- elsewhere (counted_elsewhere.sql). All rows are locked in one order. Null: a worker of 0.2.0.
--
-- `is_unknown`: this is not the database that Ferry knew, so its call log may lack calls; none is recorded. Three
-- parameters are those of is_known_database.sql.
CREATE OR REPLACE FUNCTION ferry_internal.acquire_call_permit(
  p_limit_key text, p_operation text, p_account text, p_run_id bigint,
  p_max_calls int[], p_window_ms int[], p_arrival_bound_ms int,
  p_own_call bigint DEFAULT NULL, p_own_request_id text DEFAULT NULL, p_own_age_ms double precision DEFAULT NULL,
  p_accounts text[] DEFAULT NULL,
  OUT call_id bigint, OUT wait_ms double precision, OUT poll_soon boolean, OUT is_unknown boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_free_at timestamptz;
  v_keys text[];
BEGIN
  v_keys := ARRAY(
    SELECT p_limit_key UNION SELECT split_part(p_limit_key, ':', 1) || ':' || a FROM unnest(p_accounts) a);
  IF (SELECT count(*) FROM ferry.platform_limits l WHERE l.limit_key = ANY (v_keys) AND l.operation = p_operation)
    < cardinality(v_keys) THEN
    INSERT INTO ferry.platform_limits (limit_key, operation) SELECT k, p_operation FROM unnest(v_keys) k ORDER BY k
      ON CONFLICT DO NOTHING;
  END IF;
  PERFORM FROM ferry.platform_limits l WHERE l.limit_key = ANY (v_keys) AND l.operation = p_operation
    ORDER BY l.limit_key FOR UPDATE;
  SELECT l.blocked_until INTO v_free_at FROM ferry.platform_limits l
    WHERE l.limit_key = p_limit_key AND l.operation = p_operation;

  SELECT NOT (k.is_same AND k.has_call) INTO is_unknown
    FROM ferry_internal.is_known_database(p_own_call, p_own_request_id, p_own_age_ms) k;
  IF is_unknown THEN
    wait_ms := 0;
    poll_soon := true;
    RETURN;
  END IF;

  IF p_accounts IS NOT NULL THEN
    SELECT greatest(v_free_at, max(e.free_at)) INTO v_free_at
      FROM ferry_internal.counted_elsewhere(p_limit_key, p_operation, p_accounts, p_window_ms, clock_timestamp()) e;
  END IF;
  SELECT c.* INTO call_id, wait_ms, poll_soon FROM ferry_internal.record_call(
    p_limit_key, p_operation, p_account, p_run_id, p_max_calls, p_window_ms, p_arrival_bound_ms, v_free_at) c;
END $$;

COMMENT ON FUNCTION ferry_internal.acquire_call_permit IS 'Lets one more call through and records it in the call log, or says how long to wait. For Ferry itself.';
--> statement-breakpoint
-- For workers of 0.2.0: acquire_call_permit without what they do not say. It stays where it is while they run, for they may be
-- waiting in it while the database is migrated, and call it again in the same statement.
CREATE OR REPLACE FUNCTION ferry_internal.acquire_permit(
  p_limit_key text, p_operation text, p_account text, p_run_id bigint,
  p_max_calls int[], p_window_ms int[], p_arrival_bound_ms int,
  p_own_call bigint DEFAULT NULL, p_own_request_id text DEFAULT NULL, p_own_age_ms double precision DEFAULT NULL,
  OUT call_id bigint, OUT wait_ms double precision, OUT poll_soon boolean, OUT is_unknown boolean
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  SELECT p.* INTO call_id, wait_ms, poll_soon, is_unknown FROM ferry_internal.acquire_call_permit(
    p_limit_key, p_operation, p_account, p_run_id, p_max_calls, p_window_ms, p_arrival_bound_ms,
    p_own_call, p_own_request_id, p_own_age_ms) p;
END $$;

COMMENT ON FUNCTION ferry_internal.acquire_permit IS 'What acquire_call_permit was until 0.2.0. For Ferry itself.';
--> statement-breakpoint
-- For each other key of an operation: until when calls of these accounts count that other settings recorded under it; null if there
-- are none. A `limitGroup` that was just set or changed, or another process that does not know all accounts, counts apart, but
-- the platform does not.
--
-- Which calls count, and until when, is said in full_windows.sql. Of each key the index gives the few calls of the last minute.
-- The planner puts the body in the place of the call.
CREATE OR REPLACE FUNCTION ferry_internal.counted_elsewhere(
  p_limit_key text, p_operation text, p_accounts text[], p_window_ms int[], p_at timestamptz
) RETURNS TABLE (free_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT c.counts_until + w.longest
  FROM (SELECT max(ms) * interval '1 ms' AS longest FROM unnest(p_window_ms) ms) w
  CROSS JOIN ferry.platform_limits l
  CROSS JOIN LATERAL (
    SELECT max(least(c.finished, c.counted_by)) AS counts_until FROM ferry.platform_calls c
    WHERE c.limit_key = l.limit_key AND c.operation = l.operation AND c.counted_by > p_at - w.longest
      AND c.account = ANY (p_accounts) AND least(c.finished, c.counted_by) > p_at - w.longest) c
  WHERE l.operation = p_operation AND l.limit_key <> p_limit_key
$$;

COMMENT ON FUNCTION ferry_internal.counted_elsewhere IS 'Until when calls count that other settings recorded under other keys. For Ferry itself.';
--> statement-breakpoint
-- Records one more call in the call log if every window has room for it; otherwise says how long to wait. One row: call_id,
-- or wait_ms. `poll_soon` is true while the wait depends on calls in flight, which may well end before their counted_by:
-- ask again after a short while.
--
-- For whom acquire_call_permit.sql has let through in this transaction: it holds the locks, and the database is known.
-- Which calls count, and until when, is said in full_windows.sql.
--
-- p_closed_until: when something else lets calls go out again; null if nothing holds them back.
CREATE OR REPLACE FUNCTION ferry_internal.record_call(
  p_limit_key text, p_operation text, p_account text, p_run_id bigint,
  p_max_calls int[], p_window_ms int[], p_arrival_bound_ms int, p_closed_until timestamptz DEFAULT NULL,
  OUT call_id bigint, OUT wait_ms double precision, OUT poll_soon boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_now timestamptz := clock_timestamp();
  v_free_at timestamptz;
BEGIN
  SELECT greatest(p_closed_until, max(w.free_at), v_now), coalesce(bool_or(w.is_in_flight), false) INTO v_free_at, poll_soon
    FROM ferry_internal.full_windows(p_limit_key, p_operation, p_max_calls, p_window_ms, v_now) w;

  IF v_free_at > v_now THEN
    wait_ms := extract(epoch FROM v_free_at - v_now) * 1000;
    RETURN;
  END IF;
  INSERT INTO ferry.platform_calls (limit_key, account, operation, started, counted_by, run_id)
    VALUES (p_limit_key, p_account, p_operation, v_now, v_now + p_arrival_bound_ms * interval '1 ms', p_run_id)
    RETURNING id INTO call_id;
END $$;

COMMENT ON FUNCTION ferry_internal.record_call IS 'Records one more call of an acquired limit in the call log, or says how long to wait. For Ferry itself.';
--> statement-breakpoint
-- Puts smaller batches in the place of one, uncertain, sent, or ready and uncertain, of which lines are set aside: those were not in
-- the call, so each is to be sent alone, as uncertain as it was before it, and what lies between them stays as it is. If the batch
-- was sent, the reasons of those lines stay too: refused alone, they are rejects. A line of which a number of resends is noted there
-- was in no call of unknown outcome.
-- The two settings: see claim_next_batch.sql.
CREATE OR REPLACE FUNCTION ferry_internal.carve_batch(p_batch bigint, p_was_uncertain boolean) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  v ferry.import_batches;
BEGIN
  SELECT * INTO v FROM ferry.import_batches b WHERE b.id = p_batch;
  INSERT INTO ferry.import_batches (import_id, parent_id, from_line, to_line, rows, state, resends, uncertain,
      reasons, claimed_at, call_id, sent_at, http_status, error_code, request_id, message)
    SELECT v.import_id, v.id, min(r.line), max(r.line), count(*), CASE WHEN r.aside THEN 'ready' ELSE v.state END,
      coalesce(min(r.resends), v.resends),
      CASE WHEN r.aside THEN p_was_uncertain AND min(r.resends) IS NULL ELSE v.uncertain END,
      CASE WHEN r.aside AND v.state = 'sent'
        THEN jsonb_build_object(min(r.line)::text, v.reasons -> min(r.line)::text) ELSE '{}' END,
      CASE WHEN NOT r.aside THEN v.claimed_at END, CASE WHEN NOT r.aside THEN v.call_id END,
      CASE WHEN NOT r.aside THEN v.sent_at END,
      CASE WHEN NOT r.aside THEN v.http_status END, CASE WHEN NOT r.aside THEN v.error_code END,
      CASE WHEN NOT r.aside THEN v.request_id END, CASE WHEN NOT r.aside THEN v.message END
    FROM (
      SELECT r.line, r.aside, (CASE WHEN r.aside THEN v.reasons -> r.line::text ->> 'resends' END)::int AS resends,
        count(*) FILTER (WHERE r.aside) OVER (ORDER BY r.line) AS asides_before FROM (
        SELECT r.line, r.line = ANY (v.set_aside) AS aside FROM ferry.import_recipients r
        WHERE r.import_id = v.import_id AND r.line BETWEEN v.from_line AND v.to_line) r) r
    GROUP BY r.aside, r.asides_before;
  UPDATE ferry.import_batches b SET state = 'split', set_aside = '{}', reasons = '{}' WHERE b.id = p_batch;
END $$;

COMMENT ON FUNCTION ferry_internal.carve_batch IS 'Puts smaller batches in the place of an uncertain or sent one of which lines are set aside. For Ferry itself.';
--> statement-breakpoint
-- For workers of 0.2.0: claim_next_batch without what they do not say. See acquire_permit.sql.
CREATE OR REPLACE FUNCTION ferry_internal.claim_batch(
  p_import bigint, p_lease text, p_token uuid, p_claim uuid, p_again boolean, p_limit_key text, p_max_calls int[],
  p_window_ms int[], p_arrival_bound_ms int, p_claim_ms int, p_max_bytes int,
  p_row_overhead_bytes int, p_largest_first_after int, p_turn_lapses_ms int, p_note_waiting_every_ms int,
  p_own_call bigint, p_own_request_id text, p_own_age_ms double precision,
  OUT what text, OUT status text, OUT wait_ms double precision, OUT poll_soon boolean, OUT batch_id bigint,
  OUT call_id bigint
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  SELECT b.* INTO what, status, wait_ms, poll_soon, batch_id, call_id FROM ferry_internal.claim_next_batch(
    p_import, p_lease, p_token, p_claim, p_again, p_limit_key, p_max_calls, p_window_ms, p_arrival_bound_ms, p_claim_ms,
    p_max_bytes, p_row_overhead_bytes, p_largest_first_after, p_turn_lapses_ms, p_note_waiting_every_ms,
    p_own_call, p_own_request_id, p_own_age_ms, NULL) b;
END $$;

COMMENT ON FUNCTION ferry_internal.claim_batch IS 'What claim_next_batch was until 0.2.0. For Ferry itself.';
--> statement-breakpoint
-- Claims the next batch of an import and acquires the permit of its call, both or neither. One row; `what` is
--
--   claimed      a batch to be sent now: batch_id, call_id
--   wait         ask again in wait_ms; `poll_soon` as acquire_call_permit says it
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
-- so long does not wait any more. p_note_waiting_every_ms: how often one that waits is written down. p_accounts: as acquire_call_permit
-- says it.
--
-- The settings: this function is called for every batch, its plans are made before the tables have their size, and they are
-- kept. Without the first two it may read all rows of an import before those of one batch. They make the one row of
-- known_database look so expensive that Postgres would compile its query for 100 ms, at every claim: hence no jit.
CREATE OR REPLACE FUNCTION ferry_internal.claim_next_batch(
  p_import bigint, p_lease text, p_token uuid, p_claim uuid, p_again boolean, p_limit_key text, p_max_calls int[],
  p_window_ms int[], p_arrival_bound_ms int, p_claim_ms int, p_max_bytes int,
  p_row_overhead_bytes int, p_largest_first_after int, p_turn_lapses_ms int, p_note_waiting_every_ms int,
  p_own_call bigint, p_own_request_id text, p_own_age_ms double precision,
  p_accounts text[],
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
  v_has_more boolean;
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
    v_max_rows := least(v.batch_rows, v.max_rows, v.first_rows - v.batched - v.rejected_by_platform);
    PERFORM FROM ferry.import_recipients r WHERE r.import_id = p_import AND r.line > v.batched_to
      ORDER BY r.line LIMIT 1;
    v_has_more := FOUND AND v_max_rows > 0;
    -- Smallest first: so the halves of a refused batch follow it at once, and a row that is at fault is alone soon. But what was
    -- sent again five times (HALVED_AFTER of `decide.ts`), and its outcome is unknown still, waits until nothing else is left.
    LOOP
      IF v.unaccepted < p_largest_first_after THEN
        SELECT * INTO v_batch FROM ferry.import_batches b WHERE b.import_id = p_import AND b.state = 'ready'
          AND NOT (b.uncertain AND b.resends >= 5) ORDER BY b.rows, b.from_line LIMIT 1;
        IF v_batch.id IS NULL AND NOT v_has_more THEN
          SELECT * INTO v_batch FROM ferry.import_batches b WHERE b.import_id = p_import AND b.state = 'ready'
            ORDER BY b.resends / 5, b.rows, b.from_line LIMIT 1;
        END IF;
      ELSE
        SELECT * INTO v_batch FROM ferry.import_batches b WHERE b.import_id = p_import AND b.state = 'ready'
            AND b.rows = (SELECT l.rows FROM ferry.import_batches l WHERE l.import_id = p_import AND l.state = 'ready'
              ORDER BY l.rows DESC LIMIT 1)
          ORDER BY b.from_line LIMIT 1;
      END IF;
      EXIT WHEN v_batch.id IS NULL OR v_batch.rows - cardinality(v_batch.set_aside) <= v.max_rows IS NOT FALSE;
      PERFORM ferry_internal.split_batch(v_batch.id);
    END LOOP;
    IF v_batch.id IS NULL AND NOT v_has_more THEN
      what := 'exhausted';
      RETURN;
    END IF;

    v_now := clock_timestamp();
    IF v.retry_at > v_now THEN
      what := 'wait';
      wait_ms := extract(epoch FROM v.retry_at - v_now) * 1000;
      RETURN;
    END IF;
  END IF;

  SELECT * INTO v_permit FROM ferry_internal.acquire_call_permit(
    p_limit_key, 'import-subscribers', v.account, NULL, p_max_calls, p_window_ms, p_arrival_bound_ms,
    p_own_call, p_own_request_id, p_own_age_ms, p_accounts);
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
      -- After the database's clock was set back, a wish of before says nothing.
      AND o.wants_at > v_now - p_turn_lapses_ms * interval '1 ms' AND o.wants_at <= clock_timestamp()
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

COMMENT ON FUNCTION ferry_internal.claim_next_batch IS 'Claims the next batch of an import with a permit for its call, or says what to do instead. For Ferry itself.';
--> statement-breakpoint
-- Puts two smaller batches in the place of one that has at least two rows. What made the whole uncertain, or was sent
-- again, is so for either; lines set aside are back in. Of an uncertain batch they may not have been in the call whose outcome is
-- unknown: each becomes a batch of its own, which is not uncertain.
-- The two settings: see claim_next_batch.sql.
CREATE OR REPLACE FUNCTION ferry_internal.split_batch(p_batch bigint) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  v ferry.import_batches;
  v_half bigint;
BEGIN
  -- Workers of 0.2.0 write `split` before they ask.
  UPDATE ferry.import_batches b SET state = 'ready' WHERE b.id = p_batch AND b.uncertain AND b.set_aside <> '{}';
  IF FOUND THEN
    PERFORM ferry_internal.carve_batch(p_batch, false);
    RETURN;
  END IF;
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

COMMENT ON FUNCTION ferry.mcp_servers_as_of IS 'The MCP servers as they were known at a moment; the columns of mcp_servers, and valid_to and closed_by_run. For a moment up to settled_at() the answer never changes, but for valid_to and closed_by_run: they are null until a run observes that the version has ended.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.audit_log AS
  SELECT a.at, a.account, a.actor, a.action, a.subject_kind || ' ' || a.subject_id AS subject, a.because, a.rows, a.of_rows
  FROM ferry.audit a
  ORDER BY a.id DESC;

COMMENT ON VIEW ferry.audit_log IS 'Manual actions, newest first; ferry audit lists the same.';
SELECT ferry_internal.describe_columns('ferry.audit_log', 'ferry.audit');
COMMENT ON COLUMN ferry.audit_log.subject IS 'What it was done to: a run, an import, a schedule or an event, and which one.';
--> statement-breakpoint
-- A version that began at the instant at which the one before it ended is a change. All others are few, and looked up. Before the
-- history starts nobody knows whether a version had one before it.
CREATE OR REPLACE FUNCTION ferry.churn_by_folder(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), added integer, changed integer, removed integer, returned integer, changes integer,
  rules_now integer, first_read integer
) LANGUAGE sql STABLE
SET jit = off SET enable_mergejoin = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH asked AS MATERIALIZED (
    SELECT greatest(coalesce($1, now() - interval '7 days'), (SELECT h.starts_at FROM ferry.history h)) AS since
  ), alone AS MATERIALIZED (
    SELECT coalesce(b.account, e.account) AS account, coalesce(b.id, e.id) AS id, coalesce(b.at, e.at) AS at, b.folder_id,
      b.id IS NULL AS is_removed
    FROM (
      SELECT v.id, v.account, v.valid_from AS at, v.folder_id FROM ferry.alert_rule_versions v
      WHERE v.valid_from >= (SELECT asked.since FROM asked) AND v.valid_from < 'infinity'
        AND v.appeared IS DISTINCT FROM 'first reading'
    ) b
    FULL JOIN (
      SELECT v.id, v.account, v.valid_to AS at FROM ferry.alert_rule_versions v
      WHERE v.valid_to >= (SELECT asked.since FROM asked) AND v.valid_to < 'infinity'
    ) e ON e.id = b.id AND e.account = b.account AND e.at = b.at
    WHERE b.id IS NULL OR e.id IS NULL
  ), counted AS (
    SELECT v.account, v.folder_id, count(*) FILTER (WHERE v.appeared IS DISTINCT FROM 'first reading') AS began,
      count(*) FILTER (WHERE v.appeared = 'first reading') AS first_read, 0 AS added, 0 AS returned, 0 AS removed
    FROM ferry.alert_rule_versions v
    WHERE v.valid_from >= (SELECT asked.since FROM asked) AND v.valid_from < 'infinity'
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

COMMENT ON FUNCTION ferry.churn_by_folder IS 'How many alert rules of each folder were added, changed, removed and returned since a time (null: seven days ago), as often as it was observed, but not before history_start(), the folder with the most changes first. rules_now: how many rules it has. first_read: how many a first reading found, which are no change. A rule that moved is a change of the folder it is in now.';
--> statement-breakpoint
-- As its owner, and without the rest of the scope, which has a hash of the key in it.
CREATE OR REPLACE VIEW ferry_internal.complete_runs AS
  SELECT r.id, r.account, r.resource AS inventory, r.scope -> 'folders' AS folders, r.started_at, r.finished_at,
    coalesce(r.applied_at, r.finished_at) AS applied_at,
    coalesce((
      SELECT NOT EXISTS (
        SELECT FROM ferry.sync_runs o
        WHERE o.account = r.account AND o.resource = r.resource AND o.status IN ('succeeded', 'partial', 'held')
          AND o.scope - 'folders' <> r.scope - 'folders' AND o.id < r.id AND o.id > least(l.id, (
            SELECT min(e.id) FROM (
              SELECT e.id, e.scope FROM ferry.sync_runs e
              WHERE e.account = r.account AND e.resource = r.resource AND e.status IN ('succeeded', 'partial', 'held') AND e.id < r.id
              ORDER BY e.id DESC LIMIT 20
            ) e WHERE e.scope = r.scope)))
      FROM (
        SELECT e.id FROM ferry.sync_runs e
        WHERE e.account = r.account AND e.resource = r.resource AND e.scope -> 'folders' = r.scope -> 'folders'
          AND e.status IN ('succeeded', 'held') AND e.id < r.id AND e.scope = r.scope
        ORDER BY e.id DESC LIMIT 1
      ) l
    ), false) AS knows_absent,
    -- By hand, folders may be named. They are those that were set then if a schedule read the same just before.
    r.trigger <> 'manual' OR r.scope -> 'folders' = (
      SELECT s.scope -> 'folders' FROM ferry.sync_runs s
      WHERE s.account = r.account AND s.resource = r.resource AND s.trigger <> 'manual' AND s.id < r.id
      ORDER BY s.id DESC LIMIT 1
    ) AS is_scheduled
  FROM ferry.sync_runs r
  WHERE r.status IN ('succeeded', 'held');

COMMENT ON VIEW ferry_internal.complete_runs IS 'The runs that applied a complete listing, each with the folders that it listed.';
SELECT ferry_internal.describe_columns('ferry_internal.complete_runs', 'ferry.sync_runs');
COMMENT ON COLUMN ferry_internal.complete_runs.inventory IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry_internal.complete_runs.folders IS 'The folders that it listed, as JSON; 0 stands for all.';
COMMENT ON COLUMN ferry_internal.complete_runs.applied_at IS 'When what it read became visible.';
COMMENT ON COLUMN ferry_internal.complete_runs.knows_absent IS 'Whether a run before it had the same scope, and none since then, nor between the last ones of this scope, saw other rows: else it removed nothing.';
COMMENT ON COLUMN ferry_internal.complete_runs.is_scheduled IS 'Whether it listed the folders that were set then.';
--> statement-breakpoint
-- Of each run that is asked about, the complete readings before it: one for each set of folders that the account's runs list. One look
-- into the index for each, however long the last of them is ago. Which run knew what was absent is looked for among a thousand: while
-- workers have different keys, perhaps none did.
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
    SELECT least(c.started_at, c.finished_at) AS since FROM (
      SELECT c.id, c.started_at, c.finished_at, c.knows_absent FROM ferry_internal.complete_runs c
      WHERE c.account = a.account AND c.inventory = a.inventory AND c.folders = s.folders AND c.id < a.id ORDER BY c.id DESC LIMIT 1000
    ) c WHERE c.knows_absent ORDER BY c.id DESC LIMIT 1
  ) k ON true
$$;

COMMENT ON FUNCTION ferry_internal.covered_since IS 'When the last complete reading before each of these runs (sync_runs.id) began, for each set of folders that was listed: what a run observed happened after the reading that covers its folder; absent_since: the same for a removal, as the first reading of a scope removes nothing. For around.';
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

COMMENT ON FUNCTION ferry_internal.episodes IS 'The episodes of alert rules that fire, or ended after a time. began_seen: the rule was known before it began to fire, or was added then; else (a first reading found it firing, it appeared so, or its versions of then were removed for their age) nobody knows since when it fired. was_cleared: it ended, and the rule was still there; else the rule was removed while it fired, or it fires. For the reports.';
--> statement-breakpoint
-- A batch that a person says was sent has no answer, or the error of the last one: the platform accepted nothing. Of a batch that was
-- split after the call, a part of its lines may be what the call was accepted for.
CREATE OR REPLACE FUNCTION ferry.import_throughput(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, calls integer, rows integer, allowed integer, share double precision
) LANGUAGE sql STABLE SET enable_seqscan = off SET jit = off AS $$
  SELECT date_trunc('minute', c.started), c.account, count(*)::integer,
    coalesce(sum(a.rows), 0)::integer,
    max(c.calls_per_minute), count(*)::double precision / max(c.calls_per_minute)
  FROM ferry_internal.limited_calls c
  LEFT JOIN ferry.import_batches b ON b.id = c.batch_id
  LEFT JOIN LATERAL (
    SELECT sum(a.rows) AS rows FROM ferry.import_batches a
    WHERE a.import_id = b.import_id AND a.from_line BETWEEN b.from_line AND b.to_line AND a.call_id = c.id
      AND a.state = 'sent' AND a.http_status IS NOT NULL AND a.error_code IS NULL
  ) a ON true
  WHERE c.operation = 'import-subscribers'
    AND c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY date_trunc('minute', c.started), c.account
  ORDER BY date_trunc('minute', c.started) DESC, c.account
$$;

COMMENT ON FUNCTION ferry.import_throughput IS 'How fast imports are sent, minute by minute, the latest first: minute, account, calls, rows that the platform accepted with them, allowed (calls in a minute, by the settings of the last worker; accounts of one limitGroup share them), and share of them. Minutes without a call have no row. Since: one day ago by default.';
--> statement-breakpoint
-- Verbs are words of a tool's name: delete_branch, deleteBranch and branch-delete, but not undeleted; one that deletes counts, else the first. They
-- are looked up once for each name; VMDelete has two words. Invisible characters are those that show nothing, or turn the direction of text: they can
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
    SELECT unnest('{delete,remove,drop,destroy,purge,truncate,kill,terminate,revoke,wipe,erase,clear,flush,uninstall,unlink,shutdown}'::text[]), true
    UNION ALL
    SELECT unnest('{create,add,insert,update,upsert,write,set,put,post,patch,edit,modify,rename,move,send,publish,execute,exec,deploy,apply,merge,push,upload,restart,scale,rollback,enable,disable,grant,close,cancel,run,invoke,trigger,reset,start,stop,reboot,drain}'::text[]), false
  ), named AS MATERIALIZED (
    SELECT DISTINCT ON (n.name) n.name, v.verb, v.deletes
    FROM (SELECT DISTINCT name FROM tools) n
    CROSS JOIN LATERAL regexp_split_to_table(
        lower(regexp_replace(left(n.name, 1000), '([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])', '\1\2_', 'g')), '[^a-z]+')
      WITH ORDINALITY AS w (word, nth)
    JOIN verbs v ON v.verb = w.word
    ORDER BY n.name, v.deletes DESC, w.nth
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
    SELECT s.place, 'tool count differs', NULL, 'tool_count ' || s.tool_count || ', tools ' || coalesce(n.tools::text, 'not listed')
    FROM servers s CROSS JOIN LATERAL (SELECT CASE jsonb_typeof(s.tools) WHEN 'array' THEN jsonb_array_length(s.tools) END AS tools) n
    WHERE s.tool_count <> coalesce(n.tools, 0)
    UNION ALL
    SELECT s.place, 'name used twice', NULL, n.servers || ' servers'
    FROM servers s
    JOIN (SELECT account, server_name, count(*) AS servers FROM servers GROUP BY account, server_name HAVING count(*) > 1) n USING (account, server_name)
    UNION ALL
    SELECT place, 'tool name used twice', name, count(*) || ' tools'
    FROM tools WHERE name IS NOT NULL GROUP BY place, name HAVING count(*) > 1
    UNION ALL
    SELECT place, CASE WHEN v.deletes THEN 'tool deletes' ELSE 'tool writes' END, name, v.verb
    FROM (SELECT DISTINCT place, name FROM tools) t JOIN named v USING (name)
    UNION ALL
    SELECT place, 'invisible characters', tool, min('U+' || upper(lpad(hex, greatest(4, length(hex)), '0')))
    FROM (
      SELECT place, NULL AS tool, concat_ws(' ', server_name, description) AS text FROM servers
      UNION ALL
      SELECT place, name, concat_ws(' ', name, description) FROM tools
    ) texts
    CROSS JOIN LATERAL (
      -- Most texts are ASCII: their length in bytes says so much faster. What is hidden wherever it stands is found at once, also in 60,000 characters.
      SELECT CASE WHEN octet_length(text) <> length(text) THEN coalesce(
        substring(text FROM
          '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B\u200C\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0D\uFEFF\uFFA0\uFFF9-\uFFFB\U000E0000-\U000E001F\U000E0080-\U000E0FFF]'),
        -- An emoji may have one: ⚠️ has U+FE0F, and 👩‍💻 U+200D. The flags of England, Scotland and Wales have six.
        CASE WHEN text ~ '[\u200D\uFE0E\uFE0F\U000E0020-\U000E007F]' THEN substring(regexp_replace(text,
          '\U0001F3F4\U000E0067\U000E0062(?:\U000E0065\U000E006E\U000E0067|\U000E0073\U000E0063\U000E0074|\U000E0077\U000E006C\U000E0073)\U000E007F|[0-9#*]\uFE0F\u20E3|[\u00A9\u00AE\u203C\u2049\u2122\u2139\u2194-\u21AA\u231A-\u23FF\u24C2\u25AA-\u27BF\u2934\u2935\u2B05-\u2B55\u3030\u303D\u3297\u3299\U0001F000-\U0001FAFF][\uFE0E\uFE0F]?(?:\u200D(?=[\u2194\u2195\u2600-\u27BF\u2B1B\U0001F000-\U0001FAFF]))?',
          '', 'g') FROM '[\u200D\uFE0E\uFE0F\U000E0020-\U000E007F]') END
      ) END AS hidden
    ) h
    CROSS JOIN LATERAL (SELECT to_hex(ascii(hidden)) AS hex) x
    WHERE hidden IS NOT NULL
    GROUP BY place, tool
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
-- a name are compared as if they had one that no other tool has. What lists no tools is passed over: they are not known then.
CREATE OR REPLACE FUNCTION ferry.mcp_tool_changes(since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, observed_at timestamptz, server_id text, server_name text, change text, tool text, before text, after text
) LANGUAGE sql STABLE SET jit = off AS $$
  SELECT v.account, v.valid_from, v.server_id, v.server_name, t.change, t.tool, t.before, t.after
  FROM ferry.mcp_server_versions v
  CROSS JOIN LATERAL (
    SELECT p.tools FROM ferry.mcp_server_versions p
    WHERE p.server_id = v.server_id AND p.account = v.account AND p.valid_from < v.valid_from AND jsonb_typeof(p.tools) = 'array'
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
    AND jsonb_typeof(v.tools) = 'array' AND v.tools <> p.tools
  ORDER BY v.valid_from DESC, v.account, v.server_id, t.tool, t.before, t.after
$$;

COMMENT ON FUNCTION ferry.mcp_tool_changes IS 'Tools that a known MCP server gained, lost or changed the description of since a time (null: seven days ago) and up to one (null: now), the newest first. before and after are the descriptions. Servers that were added or removed are in mcp_server_changes.';
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
  CROSS JOIN (SELECT ferry.history_start() AS starts_at OFFSET 0) h -- asked once, not for each version
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
      t.night_since, (t.night_since AT TIME ZONE t.timezone)::date AS first_night, p.account IS NOT NULL AS has_target,
      -- One that was taken by hand stands for the night, which ends at the time of the schedule all the same.
      coalesce(s.slot, greatest(s.taken_at,
        ((s.taken_at AT TIME ZONE t.timezone)::date + (greatest(l.last_slot, t.night_since) AT TIME ZONE t.timezone)::time) AT TIME ZONE t.timezone)) AS at,
      (coalesce(s.slot, s.taken_at) AT TIME ZONE t.timezone)::date AS night,
      -- The interval of the nightly schedule, without its hour of grace.
      greatest(round(extract(epoch FROM t.every_night - interval '1 hour') / 86400), 1)::integer AS every
    FROM ferry.snapshots s
    LEFT JOIN ferry.freshness_targets p ON p.account = s.account AND p.resource = 'mcp-servers'
    CROSS JOIN LATERAL (
      SELECT coalesce(p.timezone, 'UTC') AS timezone, coalesce(p.night, interval '25 hours') AS every_night,
        coalesce(p.night_since, '-infinity') AS night_since
    ) t
    -- The last one before them may begin a gap, however long ago it was.
    JOIN (
      SELECT b.account, max(b.taken_at) FILTER (WHERE b.taken_at < coalesce($1, now() - interval '30 days') - interval '1 day') AS before,
        max(b.slot) AS last_slot
      FROM ferry.snapshots b GROUP BY b.account
    ) l ON l.account = s.account
    WHERE s.taken_at >= coalesce(l.before, '-infinity')
  ), found AS (
    -- Of several snapshots of a night, the one of the schedule, else the last.
    SELECT DISTINCT ON (t.account, t.night) t.* FROM taken t ORDER BY t.account, t.night, t.slot IS NULL, t.id DESC
  ), missed AS (
    SELECT f.account, b.night + n AS night, f.timezone
    FROM (
      SELECT o.*, lead(o.night) OVER (PARTITION BY o.account ORDER BY o.night) AS next_night FROM found o
    ) f
    -- When nights were due at other times, which were is not known: what is before the first that is due as now stands one interval before it.
    CROSS JOIN LATERAL (
      SELECT CASE WHEN f.night < f.first_night THEN f.first_night - f.every ELSE f.night END AS night,
        CASE WHEN f.night < f.first_night THEN f.night_since - f.every * interval '1 day' ELSE greatest(f.at, f.night_since) END AS at
    ) b
    CROSS JOIN LATERAL generate_series(1, coalesce(
      f.next_night - b.night - 1,
      -- Tonight counts as missed an hour after its time.
      floor(extract(epoch FROM now() - b.at - greatest(f.every_night - f.every * interval '1 day', interval '1 hour')) / 86400)::integer)) n
    -- An account without a freshness target has missed nothing lately.
    WHERE b.night + n >= f.first_night AND (f.next_night IS NOT NULL OR f.has_target OR f.at > now() - interval '30 days')
      AND CASE WHEN f.weekdays IS NULL THEN n % f.every = 0 ELSE extract(isodow FROM b.night + n) = ANY (f.weekdays) END
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

COMMENT ON FUNCTION ferry.nights IS 'Each night since the first snapshot: account, night (the date in FERRY_TIMEZONE), status (succeeded, held, partial, or missed: no snapshot, since the nightly schedule is as it is; where the schedule is uneven, but not by days of the week, missed nights are guessed by its longest interval), snapshot (snapshots.id), taken_at, and its two runs. Since: 30 days ago by default.';
--> statement-breakpoint
-- Neighbours among the complete readings of each inventory, as blind_spots pairs them. A run may start before a moment and end after it,
-- so it begins with the second-last run before `a`.
-- Without a freshness target, it is that of a worker with the default settings, for the folders that were read last. What schedules
-- read before today's folders were set counts too: those were of then.
CREATE OR REPLACE FUNCTION ferry_internal.readings_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, inventory text, since_run bigint, since timestamptz, since_applied timestamptz, run_id bigint, applied_at timestamptz,
  is_blind boolean
) LANGUAGE sql STABLE AS $$
  SELECT s.account, s.inventory, s.since_run, s.since, s.since_applied, s.run_id, s.applied_at,
    -- By the target of then, and from a change of it on by the new one.
    s.since IS NULL OR coalesce(s.applied_at, now()) > CASE WHEN s.since + s.target_before < s.target_changed_at THEN s.since + s.target_before
      ELSE greatest(s.since + s.target, s.target_changed_at) END
  FROM (
    SELECT i.account, i.inventory, i.target, i.target_before, i.target_changed_at, f.id AS edge_run, c.id AS run_id, c.applied_at, lag(c.id) OVER w AS since_run,
      lag(c.started_at) OVER w AS since, lag(c.applied_at) OVER w AS since_applied
    FROM (
      SELECT n.account, n.inventory, coalesce(p.target, '3 minutes') AS target, p.target_before, p.target_changed_at, coalesce(p.folders, (
          SELECT c.folders FROM ferry_internal.complete_runs c WHERE c.account = n.account AND c.inventory = n.inventory
          ORDER BY c.id DESC LIMIT 1)) AS folders,
        coalesce((SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= p.target_since ORDER BY r.started_at LIMIT 1),
          9223372036854775807 * (p.target_since IS NOT NULL)::integer) AS same_since
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
        UNION
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.is_scheduled AND c.id < least(t.first_run, i.same_since)
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
        UNION ALL
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.is_scheduled AND c.id >= t.next_run AND c.id < i.same_since
         ORDER BY c.id LIMIT 1)
      ) e ORDER BY e.id LIMIT 1
    ) l ON true
    CROSS JOIN LATERAL (
      SELECT c.id, least(c.started_at, c.finished_at) AS started_at, c.applied_at FROM ferry_internal.complete_runs c
      WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders IN (i.folders, '["0"]')
        AND c.id BETWEEN coalesce(f.id, 0) AND coalesce(l.id, 9223372036854775807)
      UNION ALL
      SELECT c.id, least(c.started_at, c.finished_at), c.applied_at FROM ferry_internal.complete_runs c
      WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders NOT IN (i.folders, '["0"]') AND c.is_scheduled
        AND c.id >= coalesce(f.id, 0) AND c.id <= coalesce(l.id, 9223372036854775807) AND c.id < i.same_since
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
-- Debug logging is on since the last version without it ended, or since the rule was first seen.
CREATE OR REPLACE VIEW ferry.rules_debug_left_on AS
  SELECT v.account, v.id, v.name, v.folder_id, v.team, v.enabled, s.valid_from AS since, clock_timestamp() - s.valid_from AS on_for,
    CASE WHEN o.valid_to IS NOT NULL THEN o.valid_to = s.valid_from WHEN s.valid_from >= (SELECT ferry.history_start()) THEN false END AS switch_seen, s.updater_id, s.updater_name
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
COMMENT ON COLUMN ferry.rules_debug_left_on.switch_seen IS 'Whether Ferry saw it being switched on. If not, it was on when the rule was first seen, or seen again after it had been removed. Null: unknown, because the history before history_start() was pruned; then it may have been on earlier.';
COMMENT ON COLUMN ferry.rules_debug_left_on.updater_id IS 'Who had last edited the rule at that time, according to the platform.';
COMMENT ON COLUMN ferry.rules_debug_left_on.updater_name IS 'The name of that person.';
--> statement-breakpoint
-- A rule is off since its last enabled version ended, or since the rule was first seen.
CREATE OR REPLACE VIEW ferry.rules_switched_off AS
  SELECT v.account, v.id, v.name, v.folder_id, v.team, f.since, clock_timestamp() - f.since AS off_for,
    CASE WHEN o.valid_to IS NOT NULL THEN o.valid_to = f.since WHEN f.since >= (SELECT ferry.history_start()) THEN false END AS switch_seen, f.updater_id, f.updater_name
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
COMMENT ON COLUMN ferry.rules_switched_off.switch_seen IS 'Whether Ferry saw it being disabled. If not, it was disabled when the rule was first seen, or seen again after it had been removed. Null: unknown, because the history before history_start() was pruned; then it may have been disabled earlier.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_id IS 'Who had last edited the rule at that time, according to the platform.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_name IS 'The name of that person.';
--> statement-breakpoint
-- As its owner, like complete_runs.
CREATE OR REPLACE VIEW ferry_internal.run_folders AS
  SELECT r.id, r.scope -> 'folders' AS folders FROM ferry.sync_runs r;

COMMENT ON VIEW ferry_internal.run_folders IS 'The folders that each run asked for.';
COMMENT ON COLUMN ferry_internal.run_folders.id IS 'The run (sync_runs.id).';
COMMENT ON COLUMN ferry_internal.run_folders.folders IS 'As JSON; 0 stands for all.';
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

COMMENT ON FUNCTION ferry.time_to_clear IS 'How long the episodes lasted that were cleared since a time (null: seven days ago), by the team of the rule: half of them at most p50, nine in ten at most p90. Two kinds of episodes that ended are only counted: those whose rule was removed while it fired (removed), and those that were cleared but not seen to begin, because a first reading found the rule firing, it appeared so, or its versions of then were removed for their age (began_unseen). A rule that is switched off while it fires counts as cleared then (ferry.silenced names it). A begin and an end are known to one poll, so an episode may have been shorter or longer by one poll interval.';
--> statement-breakpoint
-- A complete reading says nothing of a row that it quarantined, nor of one whose removal it held. Of a row that came twice, the first
-- was read all the same.
CREATE OR REPLACE FUNCTION ferry_internal.unseen_since(runs bigint[])
RETURNS TABLE (run_id bigint, id text, first_run bigint) LANGUAGE sql STABLE AS $$
  WITH RECURSIVE quarantined AS (
    SELECT q.until_run AS run_id, q.id, q.run_id AS first_run FROM ferry.quarantined_rows q
    WHERE q.until_run = ANY ($1) AND q.id IS NOT NULL AND q.reason NOT IN ('a row with the same id came before it', 'the same id came in the listing of another folder; that row is used')
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

COMMENT ON FUNCTION ferry.alert_rules_as_of IS 'The alert rules as they were known at a moment; the columns of alert_rules, and valid_to and closed_by_run. For a moment up to settled_at() the answer never changes, but for valid_to and closed_by_run: they are null until a run observes that the version has ended.';
--> statement-breakpoint
-- Looks at the complete runs since the last one before `since`. Runs that changed nothing are kept for some time only, so
-- it looks no farther back than that: what is left of the time before does not say when a gap began. What schedules read before
-- today's folders were set counts too: those were of then.
CREATE OR REPLACE FUNCTION ferry.blind_spots(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, inventory text, "from" timestamptz, "to" timestamptz, lasted interval, late_from timestamptz,
  fresh_again_at timestamptz, error_code text
) LANGUAGE sql STABLE SET jit = off AS $$
  SELECT i.account, i.inventory, g.at, g.next_at, coalesce(g.next_at, now()) - g.at,
    -- What a run has read is there once it has finished: until then the gap before it lasts.
    greatest(g.old_at, g.finished_at), nullif(least(g.next_finished_at, g.old_until), 'infinity'),
    l.error_code
  FROM (
    SELECT n.account, n.inventory, p.target, p.target_before, p.target_changed_at, p.folders, k.known_from, s.since, coalesce(
      (SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= s.since ORDER BY r.started_at LIMIT 1),
      9223372036854775807) AS run_since, coalesce(
      (SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= p.target_since ORDER BY r.started_at LIMIT 1),
      9223372036854775807) AS same_since
    FROM ferry.inventories n
    JOIN ferry.freshness_targets p ON p.account = n.account AND p.resource = n.inventory
    CROSS JOIN LATERAL (
      SELECT greatest(now() - p.runs_kept, (SELECT h.runs_start_at FROM ferry.history h)) AS known_from
    ) k
    CROSS JOIN LATERAL (SELECT greatest(coalesce($1, now() - interval '7 days'), k.known_from) AS since) s
    OFFSET 0
  ) i
  -- Looks into the index, each in its order.
  CROSS JOIN LATERAL (
    SELECT greatest(
      (SELECT e.id FROM ferry_internal.complete_runs e
       WHERE e.account = i.account AND e.inventory = i.inventory AND e.folders = i.folders AND e.id < i.run_since
       ORDER BY e.id DESC LIMIT 1),
      (SELECT e.id FROM ferry_internal.complete_runs e
       WHERE e.account = i.account AND e.inventory = i.inventory AND e.folders = '["0"]' AND e.id < i.run_since
       ORDER BY e.id DESC LIMIT 1),
      (SELECT e.id FROM ferry_internal.complete_runs e
       WHERE e.account = i.account AND e.inventory = i.inventory AND e.is_scheduled AND e.id < least(i.run_since, i.same_since)
       ORDER BY e.id DESC LIMIT 1), 0) AS id
  ) e
  CROSS JOIN LATERAL (
    SELECT o.*, t.old_at, t.old_until FROM (
      SELECT c.id, CASE WHEN lead(c.id) OVER w IS NULL THEN c.at ELSE greatest(c.at, i.known_from) END AS at, c.finished_at,
        lead(c.id) OVER w AS next_id, lead(c.at) OVER w AS next_at, lead(c.finished_at) OVER w AS next_finished_at
      FROM (
        SELECT r.id, least(r.started_at, r.finished_at) AS at, r.finished_at FROM ferry_internal.complete_runs r
        WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders IN (i.folders, '["0"]') AND r.id >= e.id
        UNION ALL
        SELECT r.id, least(r.started_at, r.finished_at), r.finished_at FROM ferry_internal.complete_runs r
        WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders NOT IN (i.folders, '["0"]') AND r.is_scheduled
          AND r.id >= e.id AND r.id < i.same_since
      ) c
      WINDOW w AS (ORDER BY c.id)
    ) o
    -- By the target of then, and from a change of it on by the new one: a longer one may end what was late, until it has passed too.
    CROSS JOIN LATERAL (VALUES
      (CASE WHEN o.at + i.target > i.target_changed_at THEN greatest(o.at + i.target_before, o.finished_at) END, i.target_changed_at),
      (CASE WHEN o.at + i.target > i.target_changed_at THEN o.at + i.target ELSE least(o.at + i.target_before, i.target_changed_at) END, 'infinity')
    ) t (old_at, old_until)
    WHERE t.old_at < t.old_until AND least(coalesce(o.next_finished_at, now()), t.old_until) > greatest(t.old_at, i.since)
  ) g
  LEFT JOIN LATERAL (
    SELECT r.error_code FROM ferry.sync_runs r
    WHERE r.account = i.account AND r.resource = i.inventory AND r.id > g.id AND r.id < coalesce(g.next_id, r.id + 1)
      AND r.status IN ('failed', 'partial')
    ORDER BY r.id DESC LIMIT 1
  ) l ON true
  ORDER BY g.at DESC, g.old_at DESC, i.account, i.inventory
$$;

COMMENT ON FUNCTION ferry.blind_spots IS 'Times in which no complete listing was read for longer than the freshness target, latest first: account, inventory, from (the last complete listing before it, or the instant up to which runs were removed), to (the next one; null if there is none yet), lasted, late_from and fresh_again_at (between them the data was older than its freshness target), error_code (of the last run in it that failed). Since: 7 days ago by default.';
--> statement-breakpoint
-- Rules have few distinct schedules; the costs are those of alert_rules_of_night. A schedule that is the same in every hour needs no time zone
-- but for the minutes of its offset; of the others, each local time of the week is turned into an instant. Where clocks are
-- changed, it is as in cron-parser: a schedule of every hour is due in each hour that there is. Another one is due an hour later if
-- its hour is left out, and once in an hour that comes twice: in the first one. A rule is evaluated delay_seconds after it is due:
-- what is evaluated in a week was due in a week that is earlier by the whole minutes of the delay, and the seconds stay in the minute.
CREATE OR REPLACE FUNCTION ferry.cron_load(week timestamptz DEFAULT NULL, worst integer DEFAULT 60, of_account text DEFAULT NULL)
RETURNS TABLE (
  account text, rank integer, minute timestamptz, evaluations integer, average double precision
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 AS $$
  WITH span AS MATERIALIZED (
    SELECT date_trunc('week', coalesce($1, now()), 'UTC') AS begins, date_trunc('week', coalesce($1, now()), 'UTC') + interval '7 days' AS ends
  ), schedules AS MATERIALIZED (
    SELECT s.account, s.cron_pattern, s.timezone,
      make_interval(mins => floor(greatest(least(s.delay_seconds, 31536000), -31536000) / 60.0)::int) AS delay, s.rules
    FROM (
      SELECT v.account, v.cron_pattern, v.timezone, v.delay_seconds, count(*) AS rules FROM ferry.alert_rule_versions v
      WHERE v.valid_to IS NULL AND v.enabled AND ($3 IS NULL OR v.account = $3)
        AND octet_length(v.cron_pattern) <= 400 AND coalesce(octet_length(v.timezone), 0) <= 100
      -- By what Postgres has statistics of: it expects few groups and need not sort.
      GROUP BY v.account, v.cron_pattern, v.timezone, v.delay_seconds
    ) s
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
-- `ended < 'infinity'` makes Postgres take the index by end: most episodes that began before a moment ended before it too.
-- In a blind stretch, what fired before it and what fires after it may both have been firing. `unseen`: what the last reading before
-- the moment did not have, though it is current: its row was quarantined, or its removal held or rejected. A hold that a run ended
-- counted until that run was applied. Nobody knows either of a folder that was read neither before the moment nor after it.
CREATE OR REPLACE FUNCTION ferry.firing_at(at timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, labels jsonb, enabled boolean, began timestamptz,
  ended timestamptz, fired_for interval, known boolean
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH readings AS MATERIALIZED (
    SELECT g.*, coalesce(s.folders, '[]') || coalesce(n.folders, '[]') AS folders FROM ferry_internal.readings_between($1, $1) g
    LEFT JOIN ferry_internal.complete_runs s ON s.id = g.since_run
    LEFT JOIN ferry_internal.complete_runs n ON n.id = g.run_id
    WHERE g.inventory = 'alert-rules' AND ferry_internal.expect_history($1)
  ), blind AS MATERIALIZED (
    SELECT g.account, coalesce(g.since_applied, '-infinity') AS since, coalesce(g.applied_at, 'infinity') AS until
    FROM readings g
    WHERE g.is_blind AND coalesce(g.since_applied, '-infinity') < $1 AND coalesce(g.applied_at, 'infinity') > $1
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
  ), unseen AS MATERIALIZED (
    SELECT r.account, q.id FROM ferry.quarantined_rows q
    JOIN ferry.sync_runs r ON r.id = q.run_id AND r.resource = 'alert-rules' AND r.applied_at <= $1
    LEFT JOIN ferry.sync_runs u ON u.id = q.until_run
    WHERE q.reason NOT IN ('a row with the same id came before it', 'the same id came in the listing of another folder; that row is used')
      AND (u.applied_at <= $1) IS NOT TRUE
    UNION
    SELECT o.account, h.id FROM (
      SELECT o.*, (SELECT l.finished_at FROM ferry.sync_runs l
        WHERE l.account = o.account AND l.resource = o.resource AND l.applied_at <= $1 ORDER BY l.applied_at DESC LIMIT 1) AS last_read
      FROM ferry.removal_holds o WHERE o.resource = 'alert-rules' OFFSET 0
    ) o
    CROSS JOIN LATERAL unnest(o.ids, o.since_runs) h (id, since_run)
    JOIN ferry.sync_runs r ON r.id = h.since_run AND r.applied_at <= $1
    WHERE coalesce(o.ended_at > o.last_read, true) OR h.id = ANY (o.rejected_ids)
  )
  SELECT f.account, f.id, v.name, v.folder_id, v.team, v.labels, v.enabled, f.began, f.ended,
    CASE WHEN f.began <= $1 THEN $1 - f.began END, f.known AND u.id IS NULL
    AND NOT EXISTS (
      SELECT FROM readings g WHERE g.account = f.account AND NOT g.folders @> '["0"]' AND NOT g.folders @> to_jsonb(v.folder_id::text))
  FROM firing f
  LEFT JOIN unseen u ON u.account = f.account AND u.id = f.id::text
  CROSS JOIN LATERAL (
    SELECT v.name, v.folder_id, v.team, v.labels, v.enabled FROM ferry.alert_rule_versions v
    WHERE v.id = f.id AND v.account = f.account AND v.valid_from <= greatest($1, f.began) ORDER BY v.valid_from DESC LIMIT 1
  ) v
  WHERE ferry_internal.expect_history($1)
  ORDER BY f.began, f.account, f.id
$$;

COMMENT ON FUNCTION ferry.firing_at IS 'The alert rules that were firing at a moment, longest first: as they were then, with the whole episode as observed; fired_for: for how long by then. known is false where nothing complete was read for longer than the freshness target (see around, kind blind): then these fired before or after that time, and nobody knows of the moment itself; and of a rule that the last reading did not have, because its row was quarantined or its removal was held or rejected, or whose folder was read neither before the moment nor after it: it fired before. fired_for is null for a rule that was first seen firing after the moment. Raises an error if the history starts later.';
--> statement-breakpoint
-- How fresh each inventory is, of each account that was ever synced or that a worker is configured to sync. A listing is
-- complete if its run applied all of it (succeeded, or held), and counts if it is of the folders of the freshness target, or of all.
CREATE OR REPLACE VIEW ferry.freshness AS
  WITH judged AS (
    SELECT k.account, k.inventory, c.id, c.at, a.age, p.target, p.schedule,
      CASE WHEN p.target IS NULL AND (c.at IS NOT NULL OR NOT EXISTS (
          -- Of an account that was taken away, failed runs may be all that is left.
          SELECT FROM ferry.sync_runs r
          WHERE r.account = k.account AND r.resource = k.inventory AND r.started_at > clock_timestamp() - interval '1 day')
        ) THEN 'no target'
        WHEN c.at IS NULL THEN 'never'
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
COMMENT ON COLUMN ferry.freshness.state IS 'fresh; late: older than its freshness target; never: no complete listing so far; no target: no worker has run, so it is not known how old it may be, and within a day nothing failed that was never read.';
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
        UNION ALL
        (SELECT r.id, r.finished_at FROM ferry_internal.complete_runs r
         WHERE r.account = i.account AND r.inventory = i.inventory AND r.is_scheduled AND r.id < coalesce(
           (SELECT s.id FROM ferry.sync_runs s WHERE s.started_at >= p.target_since ORDER BY s.started_at LIMIT 1), 9223372036854775807)
         ORDER BY r.id LIMIT 1)
      ) o ORDER BY o.id LIMIT 1
    ) f
    CROSS JOIN LATERAL (
      SELECT greatest(coalesce($1, now() - interval '7 days'), now() - p.runs_kept, (SELECT h.runs_start_at FROM ferry.history h), f.finished_at) AS since
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
-- Counts the different rules of the hour that begins with each edit: an edit is the first one of its rule in the hours that begin
-- after the one before, and not more than an hour before it. Hours with enough rules that overlap are one row.
CREATE OR REPLACE FUNCTION ferry.mass_edits(since timestamptz DEFAULT NULL, at_least integer DEFAULT 20)
RETURNS TABLE (
  account text, updater_id numeric(20, 0), updater_name text, began timestamptz, ended timestamptz, rules integer, edits integer,
  folders integer
) LANGUAGE sql STABLE SET jit = off SET enable_mergejoin = off SET enable_nestloop = off SET work_mem = '32MB' AS $$
  WITH edits AS MATERIALIZED (
    SELECT e.* FROM ferry_internal.rule_edits(coalesce($1, now() - interval '7 days')) e
  ), people AS MATERIALIZED (
    -- Numbers are sorted in a third of the time.
    SELECT e.account, e.updater_id, row_number() OVER () AS person FROM edits e GROUP BY e.account, e.updater_id HAVING count(*) >= $2
  ), known AS MATERIALIZED (
    SELECT p.person, e.id, e.folder_id, e.edited_at FROM edits e JOIN people p ON p.account = e.account AND p.updater_id = e.updater_id
  ), firsts AS MATERIALIZED (
    SELECT e.person, e.edited_at AS at, greatest(e.edited_at - interval '1 hour',
      lag(e.edited_at) OVER (PARTITION BY e.person, e.id ORDER BY e.edited_at) + interval '1 microsecond') AS first_from
    FROM known e
  ), steps AS (
    SELECT s.person, s.at, s.step, sum(s.step) OVER (PARTITION BY s.person ORDER BY s.at) AS rules
    FROM (
      SELECT f.person, f.first_from AS at, 1 AS step FROM firsts f
      UNION ALL SELECT f.person, f.at + interval '1 microsecond', -1 FROM firsts f
      UNION ALL SELECT DISTINCT f.person, f.at, 0 FROM firsts f
    ) s
  ), chained AS (
    SELECT h.person, h.at,
      h.at - lag(h.at) OVER (PARTITION BY h.person ORDER BY h.at) > interval '1 hour' AS is_new
    FROM steps h WHERE h.step = 0 AND h.rules >= $2
  ), numbered AS (
    SELECT c.*, count(*) FILTER (WHERE c.is_new) OVER (PARTITION BY c.person ORDER BY c.at) AS burst
    FROM chained c
  ), bursts AS MATERIALIZED (
    SELECT n.person, min(n.at) AS began, max(n.at) + interval '1 hour' AS until
    FROM numbered n GROUP BY n.person, n.burst
  ), counted AS (
    SELECT b.person, b.began, max(e.edited_at) AS ended, count(DISTINCT e.id) AS rules, count(*) AS edits,
      count(DISTINCT e.folder_id) AS folders, max(e.id) FILTER (WHERE e.edited_at = b.began) AS first_rule
    FROM bursts b
    JOIN known e ON e.person = b.person AND e.edited_at BETWEEN b.began AND b.until
    GROUP BY b.person, b.began
  )
  SELECT p.account, p.updater_id, v.updater_name, c.began, c.ended, c.rules::int, c.edits::int, c.folders::int
  FROM counted c
  JOIN people p ON p.person = c.person
  JOIN ferry.alert_rule_versions v ON v.id = c.first_rule AND v.account = p.account AND v.valid_from = c.began
  ORDER BY c.rules DESC, c.began, p.account, p.updater_id
$$;

COMMENT ON FUNCTION ferry.mass_edits IS 'Who edited many alert rules within an hour, since a time (null: seven days ago), the most rules first. One row lasts as long as at_least rules (20 by default) are edited in every hour of it; began and ended are the first and the last edit, as observed.';
--> statement-breakpoint
-- The costs are those of alert_rules_of_night. Its rows are counted as they come: sorting them takes twice as long.
CREATE OR REPLACE FUNCTION ferry.rules_by_folder_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), rules integer, enabled integer, disabled integer, firing integer,
  debug_log_enabled integer, unowned integer
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_indexscan = off SET enable_sort = off SET work_mem = '32MB' AS $$
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
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_indexscan = off SET enable_sort = off SET work_mem = '32MB' AS $$
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

COMMENT ON FUNCTION ferry.rules_noisy IS 'The alert rules that fired since a time (null: seven days ago), most episodes first: at most this many (null: all), of one account if it is named; in_all says how many there are. An episode that was not seen to begin (a first reading found the rule firing, it appeared so, or its versions of then were removed for their age) counts only in hours, and a rule with no other is left out. hours: how long they fired in that time. flaps: episodes that began at most flap_within after the one before had ended. night_share: the share of episodes that began before day_begins or from day_ends on, in the rule''s own time zone (Asia/Shanghai if it has none).';
--> statement-breakpoint
-- The costs are those of alert_rules_of_night.
CREATE OR REPLACE FUNCTION ferry.rules_unowned_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), id numeric(20, 0), name text, enabled boolean, labels jsonb, creator_name text, updater_name text
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_indexscan = off AS $$
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
    SELECT (SELECT max(c.absent_since) FROM covered c WHERE c.run_id = r.id AND (c.folders ? '0'
        OR c.folders = (SELECT o.folders FROM ferry_internal.complete_runs o WHERE o.id = r.id))),
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
  ORDER BY e.observed_at NULLS LAST, e.kind <> 'blind', e.account, e.inventory, e.kind, e.id, e.name, e.before, e.after
$$;

COMMENT ON FUNCTION ferry.around IS 'What happened around a moment, an hour before and after by default, in the order in which it was observed. Each row happened after since and not later than observed_at; since is null if nobody knows since when it may have. kind: rule.added, rule.changed, rule.disabled, rule.enabled, rule.removed, rule.returned, rule.fired, rule.cleared; server.added, server.changed, server.removed, server.returned; tool.added, tool.removed, tool.changed; decision (of a person, see audit); import.started, import.ended; inventory.first_read and removals.held (rows in after; what is held is removed later, or not at all); blind: nothing complete was read from since to observed_at (null: to this day) for longer than the freshness target, so nothing is known of that time. while_firing: a rule was changed while it fired. before and after: the fields that differ. Raises an error if the history starts later.';
