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
