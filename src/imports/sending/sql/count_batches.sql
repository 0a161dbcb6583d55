-- Keeps an import's counts of its batches, of the rows in them, and of those sent and uncertain. Whoever changes the
-- rows, state or certainty of a batch must lock the row of the import before the row of the batch.
CREATE OR REPLACE FUNCTION ferry_internal.count_batches() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    UPDATE ferry.imports i SET batches = i.batches + d.batches, batched = i.batched + d.batched, sent = i.sent + d.sent,
        uncertain = i.uncertain + d.uncertain
      FROM (
        SELECT b.import_id, count(*) AS batches, sum(b.rows) AS batched,
          coalesce(sum(b.rows) FILTER (WHERE b.state = 'sent'), 0) AS sent,
          coalesce(sum(b.rows) FILTER (WHERE ferry_internal.is_uncertain_batch(b.state, b.uncertain)), 0) AS uncertain
        FROM new_batches b WHERE b.state <> 'split' GROUP BY b.import_id) d
      WHERE i.id = d.import_id;
  ELSE
    UPDATE ferry.imports i SET batches = i.batches + d.batches, batched = i.batched + d.batched, sent = i.sent + d.sent,
        uncertain = i.uncertain + d.uncertain
      FROM (
        SELECT b.import_id, sum(b.sign) AS batches, sum(b.sign * b.rows) AS batched,
          coalesce(sum(b.sign * b.rows) FILTER (WHERE b.state = 'sent'), 0) AS sent,
          coalesce(sum(b.sign * b.rows) FILTER (WHERE ferry_internal.is_uncertain_batch(b.state, b.uncertain)), 0) AS uncertain
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
  REFERENCING NEW TABLE AS new_batches FOR EACH STATEMENT EXECUTE FUNCTION ferry_internal.count_batches();

CREATE OR REPLACE TRIGGER import_batches_changed AFTER UPDATE ON ferry.import_batches
  REFERENCING OLD TABLE AS old_batches NEW TABLE AS new_batches FOR EACH STATEMENT EXECUTE FUNCTION ferry_internal.count_batches();

COMMENT ON FUNCTION ferry_internal.count_batches IS 'Keeps an import''s counts of batches and of the rows in them. For Ferry itself.';
