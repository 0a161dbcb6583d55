-- Releases a claim with which nothing was sent: its batch is as if it had never been claimed, and its permit is returned.
-- The two settings: see claim_next_batch.sql.
CREATE OR REPLACE FUNCTION ferry_internal.release_claim(p_import bigint, p_claim uuid) RETURNS void LANGUAGE plpgsql VOLATILE
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
  PERFORM ferry_internal.release_call(p_import, v_call);
END $$;

COMMENT ON FUNCTION ferry_internal.release_claim IS 'Releases a claim with which nothing was sent. For Ferry itself.';
