-- Ends the claims of an import that have expired without an outcome: their worker died, or could not reach this database.
-- One without a call was never sent. Any other may have been: it is sent again, or held for a person if that is what
-- the import wants, or if nothing will ever be sent again. p_error_code and p_message say why. Returns how many.
--
-- What becomes of a batch here is what decide.ts (`uncertain`) and endClaim in end-claim.ts make of an uncertain outcome.
-- It is decided here too since the claims must end in the transaction that makes the next one: change both together.
-- The two settings: see claim_batch.sql.
CREATE OR REPLACE FUNCTION ferry.reclaim_expired(p_import bigint, p_error_code text, p_message text) RETURNS int LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  v_resend boolean;
  v_lost record;
  v_reclaimed int := 0;
BEGIN
  SELECT ferry.resends_uncertain(i.on_uncertain, i.status) INTO v_resend
    FROM ferry.imports i WHERE i.id = p_import FOR UPDATE;
  FOR v_lost IN
    SELECT b.id, b.uncertain, b.set_aside, b.call_id IS NOT NULL AS called FROM ferry.import_batches b
    WHERE b.import_id = p_import AND ferry.is_expired_claim(b.state, b.claim_ends_at, clock_timestamp())
    FOR UPDATE
  LOOP
    UPDATE ferry.import_batches b SET
        state = CASE WHEN v_lost.called AND NOT v_resend THEN 'uncertain' ELSE 'ready' END,
        resends = b.resends + (v_lost.called AND v_resend)::int,
        uncertain = b.uncertain OR v_lost.called,
        error_code = p_error_code, http_status = NULL, request_id = NULL,
        message = p_message,
        claim = NULL, claim_ends_at = NULL
      WHERE b.id = v_lost.id;
    IF v_lost.called AND NOT v_resend AND v_lost.set_aside <> '{}' THEN
      PERFORM ferry.carve_batch(v_lost.id, v_lost.uncertain);
    END IF;
    v_reclaimed := v_reclaimed + 1;
  END LOOP;
  RETURN v_reclaimed;
END $$;

COMMENT ON FUNCTION ferry.reclaim_expired IS 'Ends the claims of an import that have expired without an outcome. For Ferry itself.';
