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
