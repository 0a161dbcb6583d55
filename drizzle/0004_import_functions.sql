-- Puts two smaller batches in the place of one that has at least two rows. What made the whole uncertain, or was sent
-- again, is so for either; lines set aside are back in.
CREATE FUNCTION ferry.split_batch(p_batch bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v ferry.import_batches;
  v_half bigint;
BEGIN
  UPDATE ferry.import_batches SET state = 'split', claim = NULL, claim_ends_at = NULL, set_aside = '{}', reasons = '{}'
    WHERE id = p_batch RETURNING * INTO v;
  SELECT r.line INTO STRICT v_half FROM ferry.import_recipients r
    WHERE r.import_id = v.import_id AND r.line BETWEEN v.from_line AND v.to_line
    ORDER BY r.line OFFSET v.rows / 2 - 1 LIMIT 1;
  INSERT INTO ferry.import_batches (import_id, parent_id, from_line, to_line, rows, state, resends, uncertain)
    VALUES (v.import_id, v.id, v.from_line, v_half, v.rows / 2, 'ready', v.resends, v.uncertain),
      (v.import_id, v.id, v_half + 1, v.to_line, v.rows - v.rows / 2, 'ready', v.resends, v.uncertain);
END $$;
--> statement-breakpoint
-- Puts smaller batches in the place of an uncertain one of which lines had been set aside: those were not in the call, so
-- they are to be sent, as uncertain as they were before it, and what lies between them stays uncertain.
CREATE FUNCTION ferry.carve_batch(p_batch bigint, p_was_uncertain boolean) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v ferry.import_batches;
BEGIN
  SELECT * INTO v FROM ferry.import_batches b WHERE b.id = p_batch;
  INSERT INTO ferry.import_batches (import_id, parent_id, from_line, to_line, rows, state, resends, uncertain,
      claimed_at, call_id, http_status, error_code, request_id, message)
    SELECT v.import_id, v.id, min(r.line), max(r.line), count(*), CASE WHEN r.aside THEN 'ready' ELSE v.state END,
      v.resends, CASE WHEN r.aside THEN p_was_uncertain ELSE v.uncertain END,
      CASE WHEN NOT r.aside THEN v.claimed_at END, CASE WHEN NOT r.aside THEN v.call_id END,
      CASE WHEN NOT r.aside THEN v.http_status END, CASE WHEN NOT r.aside THEN v.error_code END,
      CASE WHEN NOT r.aside THEN v.request_id END, CASE WHEN NOT r.aside THEN v.message END
    FROM (
      SELECT r.line, r.aside, count(*) FILTER (WHERE r.aside) OVER (ORDER BY r.line) AS asides_before FROM (
        SELECT r.line, r.line = ANY (v.set_aside) AS aside FROM ferry.import_recipients r
        WHERE r.import_id = v.import_id AND r.line BETWEEN v.from_line AND v.to_line) r) r
    GROUP BY r.aside, r.asides_before;
  UPDATE ferry.import_batches b SET state = 'split', set_aside = '{}', reasons = '{}' WHERE b.id = p_batch;
END $$;
--> statement-breakpoint
-- Ends the claims of an import that are over without an outcome: their worker died, or could not reach this database.
-- One without a call was never sent. Any other may have been: it is sent again, or held for a person if that is what
-- the import wants, or if nothing will ever be sent again. Returns how many.
CREATE FUNCTION ferry.settle_claims(p_import bigint) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_resend boolean;
  v_lost record;
  v_settled int := 0;
BEGIN
  SELECT i.on_uncertain = 'resend' AND i.status <> 'cancelled' INTO v_resend
    FROM ferry.imports i WHERE i.id = p_import FOR UPDATE;
  FOR v_lost IN
    SELECT b.id, b.uncertain, b.set_aside, b.call_id IS NOT NULL AS called FROM ferry.import_batches b
    WHERE b.import_id = p_import AND b.state = 'in flight' AND b.claim_ends_at <= clock_timestamp() FOR UPDATE
  LOOP
    UPDATE ferry.import_batches b SET
        state = CASE WHEN v_lost.called AND NOT v_resend THEN 'uncertain' ELSE 'ready' END,
        resends = b.resends + (v_lost.called AND v_resend)::int,
        uncertain = b.uncertain OR v_lost.called,
        error_code = 'WorkerLost', http_status = NULL, request_id = NULL,
        message = 'Its worker was lost before the outcome was recorded.',
        claim = NULL, claim_ends_at = NULL
      WHERE b.id = v_lost.id;
    IF v_lost.called AND NOT v_resend AND v_lost.set_aside <> '{}' THEN
      PERFORM ferry.carve_batch(v_lost.id, v_lost.uncertain);
    END IF;
    v_settled := v_settled + 1;
  END LOOP;
  RETURN v_settled;
END $$;
--> statement-breakpoint
-- Claims the next batch of an import and takes the slot of its call, both or neither. One row; `what` is
--
--   claimed      a batch to be sent now: batch_id, claim, call_id
--   wait         ask again in wait_ms; `sooner` as take_slot says it
--   in flight    nothing is left to claim, but calls may come back; the first claim of them ends in wait_ms
--   doubted      nothing is left but rows refused alone
--   ended        it is not running, or no longer: status
--   lost         the lease is not the caller's any more, or the claim is not
--
-- The rows are locked in the order in which everybody locks them: lease, import, limit.
--
-- p_again is a claim whose slot grew old before anything was sent: it gets another one.
CREATE FUNCTION ferry.claim_batch(
  p_import bigint, p_lease text, p_token uuid, p_again uuid, p_limit_key text, p_most int[], p_window_ms int[],
  p_bound_ms int, p_claim_ms int, p_most_bytes int,
  OUT what text, OUT status text, OUT wait_ms double precision, OUT sooner boolean,
  OUT batch_id bigint, OUT claim uuid, OUT call_id bigint
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v ferry.imports;
  v_batch ferry.import_batches;
  v_most int;
  v_more boolean;
  v_slot record;
  v_now timestamptz;
BEGIN
  sooner := false;
  PERFORM FROM ferry.leases l
    WHERE l.name = p_lease AND l.token = p_token AND l.expires_at > clock_timestamp() FOR SHARE;
  IF NOT FOUND THEN
    what := 'lost';
    RETURN;
  END IF;
  SELECT * INTO v FROM ferry.imports i WHERE i.id = p_import FOR UPDATE;
  IF v.status IS DISTINCT FROM 'running' THEN
    what := 'ended';
    status := v.status;
    RETURN;
  END IF;

  IF p_again IS NOT NULL THEN
    SELECT * INTO v_batch FROM ferry.import_batches b WHERE b.claim = p_again AND b.state = 'in flight';
    IF v_batch.id IS NULL THEN
      what := 'lost';
      RETURN;
    END IF;
  ELSE
    PERFORM ferry.settle_claims(p_import);
    -- Smallest first: so the halves of a refused batch follow it at once, and a row that is at fault is alone soon.
    -- After nine refusals in a row, of the twelve that would pause the import, the largest: it may well be without fault.
    LOOP
      SELECT * INTO v_batch FROM ferry.import_batches b WHERE b.import_id = p_import AND b.state = 'ready'
        ORDER BY CASE WHEN v.unaccepted < 9 THEN b.rows ELSE -b.rows END, b.from_line LIMIT 1;
      EXIT WHEN v_batch.id IS NULL OR v_batch.rows - cardinality(v_batch.set_aside) <= v.most_rows IS NOT FALSE;
      PERFORM ferry.split_batch(v_batch.id);
    END LOOP;
    v_most := least(v.batch_rows, v.most_rows);
    IF v.first_rows IS NOT NULL AND v_batch.id IS NULL THEN
      SELECT least(v_most, v.first_rows - coalesce(sum(b.rows), 0)
          - (SELECT count(*) FROM ferry.import_rejects r WHERE r.import_id = p_import AND r.origin = 'platform'))
        INTO v_most FROM ferry.import_batches b WHERE b.import_id = p_import AND b.state <> 'split';
    END IF;
    v_more := EXISTS (SELECT FROM ferry.import_recipients r WHERE r.import_id = p_import AND r.line > v.batched_to);
    IF v_batch.id IS NULL AND NOT (v_more AND v_most > 0) THEN
      SELECT o.what, o.status, o.wait_ms INTO what, status, wait_ms FROM ferry.end_import(p_import, v_more) o;
      RETURN;
    END IF;

    v_now := clock_timestamp();
    IF v.retry_at > v_now THEN
      what := 'wait';
      wait_ms := extract(epoch FROM v.retry_at - v_now) * 1000;
      RETURN;
    END IF;
    -- Imports of an account that wait for slots at the same time take turns. One that has not asked for two seconds
    -- does not wait any more.
    IF EXISTS (
      SELECT FROM ferry.imports o
      WHERE o.finished_at IS NULL AND o.status = 'running' AND o.account = v.account AND o.id <> v.id
        AND o.wants_at > v_now - interval '2 s'
        AND (coalesce(o.served_at, '-infinity'), o.id) < (coalesce(v.served_at, '-infinity'), v.id)
        AND (o.retry_at <= v_now) IS NOT FALSE
    ) THEN
      what := 'wait';
      wait_ms := 20;
      sooner := true;
    END IF;
  END IF;

  IF what IS NULL THEN
    SELECT * INTO v_slot FROM ferry.take_slot(
      p_limit_key, 'import-subscribers', v.account, NULL, p_most, p_window_ms, p_bound_ms);
    IF v_slot.call_id IS NULL THEN
      what := 'wait';
      wait_ms := v_slot.wait_ms;
      sooner := v_slot.sooner;
    END IF;
  END IF;
  IF what = 'wait' THEN
    UPDATE ferry.imports i SET wants_at = clock_timestamp()
      WHERE i.id = p_import AND (i.wants_at > clock_timestamp() - interval '500 ms') IS NOT TRUE;
    RETURN;
  END IF;

  IF v_batch.id IS NULL THEN
    -- The names of JSON's members and its punctuation are about 64 bytes a row. One row is always enough.
    -- What other imports may have sent is sent again.
    INSERT INTO ferry.import_batches (import_id, from_line, to_line, rows, state, resends)
      SELECT p_import, min(s.line), max(s.line), count(*), 'ready', coalesce(max(s.maybe_sent), 0) FROM (
        SELECT r.line, r.maybe_sent, row_number() OVER w AS n, sum(r.bytes) OVER w AS bytes FROM (
          SELECT r.line, r.maybe_sent, 64 + octet_length(r.recipient) + octet_length(r.locale)
            + coalesce(octet_length(array_to_string(r.component_ids, '","')), 0) AS bytes
          FROM ferry.import_recipients r WHERE r.import_id = p_import AND r.line > v.batched_to
          ORDER BY r.line LIMIT v_most) r
        WINDOW w AS (ORDER BY r.line)) s
      WHERE s.n = 1 OR s.bytes <= p_most_bytes
      RETURNING * INTO v_batch;
  END IF;
  UPDATE ferry.imports i SET batched_to = greatest(i.batched_to, v_batch.to_line), wants_at = NULL,
      served_at = clock_timestamp()
    WHERE i.id = p_import;
  UPDATE ferry.import_batches b SET state = 'in flight', claim = coalesce(p_again, gen_random_uuid()),
      claimed_at = clock_timestamp(), claim_ends_at = clock_timestamp() + p_claim_ms * interval '1 ms',
      call_id = v_slot.call_id
    WHERE b.id = v_batch.id RETURNING b.claim INTO claim;
  UPDATE ferry.platform_calls c SET batch_id = v_batch.id WHERE c.id = v_slot.call_id;
  what := 'claimed';
  batch_id := v_batch.id;
  call_id := v_slot.call_id;
END $$;
--> statement-breakpoint
-- What becomes of a running import of which nothing is left to claim. p_more: there are rows beyond the first ones that
-- were asked for.
CREATE FUNCTION ferry.end_import(p_import bigint, p_more boolean, OUT what text, OUT status text, OUT wait_ms double precision)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_ends timestamptz;
  v_unsure int;
BEGIN
  SELECT min(b.claim_ends_at) INTO v_ends FROM ferry.import_batches b
    WHERE b.import_id = p_import AND b.state = 'in flight';
  IF v_ends IS NOT NULL THEN
    what := 'in flight';
    wait_ms := extract(epoch FROM v_ends - clock_timestamp()) * 1000;
    RETURN;
  END IF;
  IF EXISTS (SELECT FROM ferry.import_batches b WHERE b.import_id = p_import AND b.state = 'doubted') THEN
    what := 'doubted';
    RETURN;
  END IF;
  what := 'ended';
  SELECT coalesce(sum(b.rows), 0) INTO v_unsure FROM ferry.import_batches b
    WHERE b.import_id = p_import AND b.state = 'uncertain';
  IF p_more THEN
    UPDATE ferry.imports i SET status = 'paused', pause_code = 'FirstRowsSent', pause_request_id = NULL,
        pause_message = 'The first ' || i.first_rows || CASE WHEN v_unsure > 0
            THEN ' rows have been tried; whether ' || v_unsure || ' of them arrived is not known.'
            ELSE ' rows have been sent.' END,
        pause_what_to_do = CASE WHEN v_unsure > 0
            THEN 'Look at the status page, say what arrived with `ferry imports resolve ' || i.id
              || ' --as sent` (or `--as resend`); then resume the import, or cancel it.'
            ELSE 'Look at the status page; then resume the import, or cancel it.' END, first_rows = NULL
      WHERE i.id = p_import RETURNING i.status INTO status;
  ELSIF v_unsure > 0 THEN
    UPDATE ferry.imports i SET status = 'undecided' WHERE i.id = p_import RETURNING i.status INTO status;
  ELSE
    UPDATE ferry.imports i SET status = 'completed', finished_at = clock_timestamp()
      WHERE i.id = p_import RETURNING i.status INTO status;
  END IF;
END $$;
