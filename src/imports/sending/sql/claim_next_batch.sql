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
