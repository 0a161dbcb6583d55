-- Counts only. A barrier, so that no function in a condition of the reader sees a row before it is counted.
CREATE OR REPLACE VIEW ferry.rejects_by_reason WITH (security_barrier = true) AS
  SELECT i.id AS import, i.account, i.page_id, i.created_at, r.origin AS rejected_by, r.reason, r.rows
  FROM (
    SELECT import_id, origin, reason, count(*)::integer AS rows FROM ferry.import_rejects GROUP BY import_id, origin, reason
  ) r
  JOIN ferry.imports i ON i.id = r.import_id
  ORDER BY i.id DESC, r.rows DESC, r.origin, r.reason;

COMMENT ON VIEW ferry.rejects_by_reason IS 'Rejected rows of each import by reason, newest import first. Counts only.';
COMMENT ON COLUMN ferry.rejects_by_reason.import IS 'The import (imports.id).';
COMMENT ON COLUMN ferry.rejects_by_reason.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.rejects_by_reason.page_id IS 'The status page.';
COMMENT ON COLUMN ferry.rejects_by_reason.created_at IS 'When the import began.';
COMMENT ON COLUMN ferry.rejects_by_reason.rejected_by IS 'file: by the check of the file; platform: by the platform.';
COMMENT ON COLUMN ferry.rejects_by_reason.reason IS 'Why, as a code.';
COMMENT ON COLUMN ferry.rejects_by_reason.rows IS 'How many rows.';
