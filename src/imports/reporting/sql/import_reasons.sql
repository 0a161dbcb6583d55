-- Counts only, with the barrier of rejects_by_reason. By the line, so that 10,000 rows of each kind are read at most.
CREATE OR REPLACE VIEW ferry_internal.import_reasons WITH (security_barrier = true) AS
  SELECT i.id AS import, 'rejected' AS kind, r.origin AS rejected_by, r.reason, count(*)::integer AS rows
  FROM ferry.imports i
  CROSS JOIN LATERAL (
    SELECT origin, reason FROM ferry.import_rejects WHERE import_id = i.id ORDER BY line LIMIT 10000
  ) r
  GROUP BY i.id, r.origin, r.reason
  UNION ALL
  SELECT i.id, l.kind, NULL, l.reason, count(*)::integer
  FROM ferry.imports i
  CROSS JOIN LATERAL (
    SELECT kind, reason FROM ferry.import_left_out WHERE import_id = i.id ORDER BY line LIMIT 10000
  ) l
  GROUP BY i.id, l.kind, l.reason;

COMMENT ON VIEW ferry_internal.import_reasons IS 'Why rows of an import are not sent and how many, counted in its first 10,000 rejects and as many rows left out. Counts only. For Ferry itself; rejects_by_reason counts all.';
COMMENT ON COLUMN ferry_internal.import_reasons.import IS 'The import (imports.id).';
COMMENT ON COLUMN ferry_internal.import_reasons.kind IS 'rejected, or why it was left out: duplicate, suppressed or already imported.';
COMMENT ON COLUMN ferry_internal.import_reasons.rejected_by IS 'file: by the check of the file; platform: by the platform. Null for what was left out.';
COMMENT ON COLUMN ferry_internal.import_reasons.reason IS 'Why, as a code.';
COMMENT ON COLUMN ferry_internal.import_reasons.rows IS 'How many rows.';
