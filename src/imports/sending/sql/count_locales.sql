-- Keeps how many rows of each locale an import has sent: when a batch becomes sent, its rows are counted, but those set
-- aside, which are rejected. The table of recipients may be as large as it likes, and its statistics old: by its index.
CREATE OR REPLACE FUNCTION ferry_internal.count_locales() RETURNS trigger LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO ferry.import_locales AS l (import_id, locale, sent)
    SELECT r.import_id, r.locale, count(*) FROM ferry.import_recipients r
    WHERE r.import_id = NEW.import_id AND r.line BETWEEN NEW.from_line AND NEW.to_line AND r.line <> ALL (NEW.set_aside)
    GROUP BY r.import_id, r.locale ORDER BY r.locale
    ON CONFLICT (import_id, locale) DO UPDATE SET sent = l.sent + excluded.sent;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER import_batches_sent_locales AFTER UPDATE OF state ON ferry.import_batches
  FOR EACH ROW WHEN (NEW.state = 'sent' AND OLD.state <> 'sent') EXECUTE FUNCTION ferry_internal.count_locales();

COMMENT ON FUNCTION ferry_internal.count_locales IS 'Keeps how many rows of each locale an import has sent. For Ferry itself.';
