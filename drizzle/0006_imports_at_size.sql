DROP INDEX "ferry"."import_rejects_of_platform";--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "rejected" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "rejected_by_platform" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "duplicate" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "suppressed" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "already_imported" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "sent" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "uncertain" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "batches" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "batched" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "requests" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "screening_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ferry"."imports" ADD COLUMN "wants_limit" text;--> statement-breakpoint
CREATE INDEX "import_batches_ready" ON "ferry"."import_batches" USING btree ("import_id","rows","from_line") WHERE "ferry"."import_batches"."state" = 'ready';--> statement-breakpoint
CREATE INDEX "import_batches_sent" ON "ferry"."import_batches" USING btree ("import_id","sent_at") WHERE "ferry"."import_batches"."state" = 'sent';--> statement-breakpoint
CREATE INDEX "import_batches_failed" ON "ferry"."import_batches" USING btree ("import_id","claimed_at") WHERE "ferry"."import_batches"."error_code" is not null;
--> statement-breakpoint
UPDATE ferry.imports i SET
  rejected = (SELECT count(*) FROM ferry.import_rejects r WHERE r.import_id = i.id),
  rejected_by_platform = (SELECT count(*) FROM ferry.import_rejects r WHERE r.import_id = i.id AND r.origin = 'platform'),
  duplicate = (SELECT count(*) FROM ferry.import_left_out l WHERE l.import_id = i.id AND l.kind = 'duplicate'),
  suppressed = (SELECT count(*) FROM ferry.import_left_out l WHERE l.import_id = i.id AND l.kind = 'suppressed'),
  already_imported = (SELECT count(*) FROM ferry.import_left_out l
    WHERE l.import_id = i.id AND l.kind = 'already imported'),
  requests = (SELECT count(*) FROM ferry.platform_calls c
    WHERE c.batch_id IN (SELECT b.id FROM ferry.import_batches b WHERE b.import_id = i.id)),
  sent = b.sent, uncertain = b.uncertain, batches = b.batches, batched = b.batched
FROM (
  SELECT i.id, count(b.id) AS batches, coalesce(sum(b.rows), 0) AS batched,
    coalesce(sum(b.rows) FILTER (WHERE b.state = 'sent'), 0) AS sent,
    coalesce(sum(b.rows) FILTER (WHERE b.state = 'uncertain'
      OR (b.uncertain AND b.state IN ('ready', 'in flight', 'doubted'))), 0) AS uncertain
  FROM ferry.imports i LEFT JOIN ferry.import_batches b ON b.import_id = i.id AND b.state <> 'split'
  GROUP BY i.id) b
WHERE b.id = i.id;
--> statement-breakpoint
-- Keeps an import's counts of its batches, of the rows in them, and of those sent and uncertain. Whoever changes a
-- batch's rows, state or certainty has locked the import's row before the batch's.
CREATE FUNCTION ferry.count_batches() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    UPDATE ferry.imports i SET batches = i.batches + d.batches, batched = i.batched + d.batched, sent = i.sent + d.sent,
        uncertain = i.uncertain + d.uncertain
      FROM (
        SELECT b.import_id, count(*) AS batches, sum(b.rows) AS batched,
          coalesce(sum(b.rows) FILTER (WHERE b.state = 'sent'), 0) AS sent,
          coalesce(sum(b.rows) FILTER (WHERE b.state = 'uncertain'
            OR (b.uncertain AND b.state IN ('ready', 'in flight', 'doubted'))), 0) AS uncertain
        FROM new_batches b WHERE b.state <> 'split' GROUP BY b.import_id) d
      WHERE i.id = d.import_id;
  ELSE
    UPDATE ferry.imports i SET batches = i.batches + d.batches, batched = i.batched + d.batched, sent = i.sent + d.sent,
        uncertain = i.uncertain + d.uncertain
      FROM (
        SELECT b.import_id, sum(b.sign) AS batches, sum(b.sign * b.rows) AS batched,
          coalesce(sum(b.sign * b.rows) FILTER (WHERE b.state = 'sent'), 0) AS sent,
          coalesce(sum(b.sign * b.rows) FILTER (WHERE b.state = 'uncertain'
            OR (b.uncertain AND b.state IN ('ready', 'in flight', 'doubted'))), 0) AS uncertain
        FROM (
          SELECT 1 AS sign, n.import_id, n.rows, n.state, n.uncertain FROM new_batches n
          UNION ALL
          SELECT -1, o.import_id, o.rows, o.state, o.uncertain FROM old_batches o) b
        WHERE b.state <> 'split' GROUP BY b.import_id) d
      WHERE i.id = d.import_id AND (d.batches, d.batched, d.sent, d.uncertain) <> (0, 0, 0, 0);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER import_batches_made AFTER INSERT ON ferry.import_batches
  REFERENCING NEW TABLE AS new_batches FOR EACH STATEMENT EXECUTE FUNCTION ferry.count_batches();
--> statement-breakpoint
CREATE TRIGGER import_batches_changed AFTER UPDATE ON ferry.import_batches
  REFERENCING OLD TABLE AS old_batches NEW TABLE AS new_batches FOR EACH STATEMENT EXECUTE FUNCTION ferry.count_batches();
--> statement-breakpoint
-- The functions below are called for every batch. Their plans are made when nobody knows how large the tables will be,
-- and kept: without the two settings they may read all rows of an import before those of one batch.
-- Puts two smaller batches in the place of one that has at least two rows. What made the whole uncertain, or was sent
-- again, is so for either; lines set aside are back in.
CREATE OR REPLACE FUNCTION ferry.split_batch(p_batch bigint) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
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
CREATE OR REPLACE FUNCTION ferry.carve_batch(p_batch bigint, p_was_uncertain boolean) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
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
CREATE OR REPLACE FUNCTION ferry.settle_claims(p_import bigint) RETURNS int LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
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
-- Gives up a claim with which nothing was sent: its batch is as if it had never been claimed, and its slot is free.
CREATE FUNCTION ferry.release_claim(p_import bigint, p_claim uuid) RETURNS void LANGUAGE plpgsql VOLATILE
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
--> statement-breakpoint
-- Gives back the slot of a batch's call that was not made. Whoever calls it has locked the import's row.
CREATE FUNCTION ferry.release_call(p_import bigint, p_call bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  DELETE FROM ferry.platform_calls c WHERE c.id = p_call;
  IF FOUND THEN
    UPDATE ferry.imports i SET requests = i.requests - 1 WHERE i.id = p_import;
  END IF;
END $$;
--> statement-breakpoint
DROP FUNCTION ferry.claim_batch(bigint, text, uuid, uuid, text, int[], int[], int, int, int);
--> statement-breakpoint
-- Claims the next batch of an import and takes the slot of its call, both or neither. One row; `what` is
--
--   claimed      a batch to be sent now: batch_id, call_id
--   wait         ask again in wait_ms; `sooner` as take_slot says it
--   in flight    nothing is left to claim, but calls may come back; the first claim of them ends in wait_ms
--   doubted      nothing is left but rows refused alone
--   ended        it is not running, or no longer: status
--   lost         the lease is not the caller's any more, or the claim is not
--
-- The rows are locked in the order in which everybody locks them: lease, import, limit.
--
-- p_claim is new for every claim, and the same when it is asked for again because no answer came: then the claim that
-- was made is returned, or given up if it is not to be sent any more. With p_again it is a claim that has given back its
-- slot, which grew old before anything was sent: it gets another one.
CREATE FUNCTION ferry.claim_batch(
  p_import bigint, p_lease text, p_token uuid, p_claim uuid, p_again boolean, p_limit_key text, p_most int[],
  p_window_ms int[], p_bound_ms int, p_claim_ms int, p_most_bytes int,
  OUT what text, OUT status text, OUT wait_ms double precision, OUT sooner boolean, OUT batch_id bigint,
  OUT call_id bigint
) LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  v ferry.imports;
  v_batch ferry.import_batches;
  v_is_held boolean;
  v_is_kept boolean;
  v_most int;
  v_more boolean;
  v_slot record;
  v_now timestamptz;
BEGIN
  sooner := false;
  -- Nobody takes the lease over meanwhile, but its holder renews it, however many claims are under way.
  PERFORM FROM ferry.leases l
    WHERE l.name = p_lease AND l.token = p_token AND l.expires_at > clock_timestamp() FOR KEY SHARE;
  v_is_held := FOUND;
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
    PERFORM ferry.settle_claims(p_import);
    -- Smallest first: so the halves of a refused batch follow it at once, and a row that is at fault is alone soon.
    -- After nine refusals in a row, of the twelve that would pause the import, the largest: it may well be without fault.
    LOOP
      IF v.unaccepted < 9 THEN
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
      v_most := least(v.batch_rows, v.most_rows, v.first_rows - v.batched - v.rejected_by_platform);
      PERFORM FROM ferry.import_recipients r WHERE r.import_id = p_import AND r.line > v.batched_to
        ORDER BY r.line LIMIT 1;
      v_more := FOUND;
      IF NOT (v_more AND v_most > 0) THEN
        SELECT o.what, o.status, o.wait_ms INTO what, status, wait_ms FROM ferry.end_import(p_import, v_more) o;
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

  SELECT * INTO v_slot FROM ferry.take_slot(
    p_limit_key, 'import-subscribers', v.account, NULL, p_most, p_window_ms, p_bound_ms);
  IF v_slot.call_id IS NULL THEN
    what := 'wait';
    wait_ms := v_slot.wait_ms;
    sooner := v_slot.sooner;
  ELSIF NOT v_is_kept AND EXISTS (
    -- Imports that wait for slots of one limit at the same time take turns. One that has not asked for two seconds does
    -- not wait any more; one that does asks as soon as there is a slot.
    SELECT FROM ferry.imports o
    WHERE o.finished_at IS NULL AND o.status = 'running' AND o.wants_limit = p_limit_key AND o.id <> v.id
      AND o.wants_at > v_now - interval '2 s'
      AND (coalesce(o.served_at, '-infinity'), o.id) < (coalesce(v.served_at, '-infinity'), v.id)
      AND (o.retry_at <= v_now) IS NOT FALSE
  ) THEN
    DELETE FROM ferry.platform_calls c WHERE c.id = v_slot.call_id;
    what := 'wait';
    wait_ms := 20;
    sooner := true;
  END IF;
  IF what = 'wait' THEN
    UPDATE ferry.imports i SET wants_at = clock_timestamp(), wants_limit = p_limit_key
      WHERE i.id = p_import AND (i.wants_at > clock_timestamp() - interval '500 ms') IS NOT TRUE;
    RETURN;
  END IF;

  v_now := clock_timestamp();
  IF v_batch.id IS NULL THEN
    -- The names of JSON's members and its punctuation are about 64 bytes a row. One row is always enough.
    -- What other imports may have sent is sent again.
    INSERT INTO ferry.import_batches (import_id, from_line, to_line, rows, state, resends, claim, claimed_at,
        claim_ends_at, call_id)
      SELECT p_import, min(s.line), max(s.line), count(*), 'in flight', coalesce(max(s.maybe_sent), 0), p_claim, v_now,
        v_now + p_claim_ms * interval '1 ms', v_slot.call_id
      FROM (
        SELECT r.line, r.maybe_sent, row_number() OVER w AS n, sum(r.bytes) OVER w AS bytes FROM (
          SELECT r.line, r.maybe_sent, 64 + octet_length(r.recipient) + octet_length(r.locale)
            + coalesce(octet_length(array_to_string(r.component_ids, '","')), 0) AS bytes
          FROM ferry.import_recipients r WHERE r.import_id = p_import AND r.line > v.batched_to
          ORDER BY r.line LIMIT v_most) r
        WINDOW w AS (ORDER BY r.line)) s
      WHERE s.n = 1 OR s.bytes <= p_most_bytes
      RETURNING * INTO v_batch;
  ELSE
    UPDATE ferry.import_batches b SET state = 'in flight', claim = p_claim, claimed_at = v_now,
        claim_ends_at = v_now + p_claim_ms * interval '1 ms', call_id = v_slot.call_id
      WHERE b.id = v_batch.id;
  END IF;
  UPDATE ferry.imports i SET batched_to = greatest(i.batched_to, v_batch.to_line), requests = i.requests + 1,
      wants_at = NULL, served_at = v_now
    WHERE i.id = p_import;
  UPDATE ferry.platform_calls c SET batch_id = v_batch.id WHERE c.id = v_slot.call_id;
  what := 'claimed';
  batch_id := v_batch.id;
  call_id := v_slot.call_id;
END $$;
--> statement-breakpoint
-- What becomes of a running import of which nothing is left to claim. p_more: there are rows beyond the first ones that
-- were asked for.
CREATE OR REPLACE FUNCTION ferry.end_import(p_import bigint, p_more boolean, OUT what text, OUT status text, OUT wait_ms double precision)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
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
--> statement-breakpoint
COMMENT ON COLUMN ferry.imports.rejected IS 'Rows of import_rejects.';
COMMENT ON COLUMN ferry.imports.rejected_by_platform IS 'Rows of import_rejects that the platform rejected.';
COMMENT ON COLUMN ferry.imports.duplicate IS 'Rows of import_left_out of that kind.';
COMMENT ON COLUMN ferry.imports.suppressed IS 'Rows of import_left_out of that kind.';
COMMENT ON COLUMN ferry.imports.already_imported IS 'Rows of import_left_out of that kind.';
COMMENT ON COLUMN ferry.imports.sent IS 'Recipients in batches that the platform accepted.';
COMMENT ON COLUMN ferry.imports.uncertain IS 'Recipients in batches of which nobody knows whether the platform took them. A batch whose worker was lost counts here once that was noticed, seconds after claim_ends_at.';
COMMENT ON COLUMN ferry.imports.batches IS 'Batches made so far, without those that were split.';
COMMENT ON COLUMN ferry.imports.batched IS 'Recipients in these batches; the others come after batched_to.';
COMMENT ON COLUMN ferry.imports.requests IS 'Calls made for its batches.';
COMMENT ON COLUMN ferry.imports.screening_at IS 'While rows that other imports of the page had sent are being left out: when that began. Null otherwise.';
COMMENT ON COLUMN ferry.imports.wants_at IS 'When it last had to wait for a slot: imports that share a limit take turns. Null if it never had to.';
COMMENT ON COLUMN ferry.imports.wants_limit IS 'The limit it waited for (platform_limits.limit_key); null if it never had to.';
--> statement-breakpoint
COMMENT ON FUNCTION ferry.claim_batch IS 'Claims the next batch of an import with a slot for its call, or says what to do instead. For Ferry itself.';
COMMENT ON FUNCTION ferry.count_batches IS 'Keeps an import''s counts of batches and of the rows in them. For Ferry itself.';
COMMENT ON FUNCTION ferry.release_call IS 'Gives back the slot of a call that was not made. For Ferry itself.';
COMMENT ON FUNCTION ferry.release_claim IS 'Gives up a claim with which nothing was sent. For Ferry itself.';
