CREATE OR REPLACE VIEW ferry.import_funnel AS
  SELECT i.id AS import, i.account, i.page_id, i.method, i.status, i.created_at, i.read,
    i.rejected - i.rejected_by_platform AS rejected_by_check, i.duplicate, i.suppressed, i.already_imported,
    i.recipients + i.rejected_by_platform AS to_send, i.rejected_by_platform, i.sent, i.uncertain,
    i.recipients - i.sent - i.uncertain AS pending,
    i.read - (i.recipients + i.rejected + i.duplicate + i.suppressed + i.already_imported) AS missing
  FROM ferry.imports i
  ORDER BY i.id DESC;

COMMENT ON VIEW ferry.import_funnel IS 'The rows of each import by result, newest import first: read = rejected_by_check + duplicate + suppressed + already_imported + to_send, and to_send = rejected_by_platform + sent + uncertain + pending.';
SELECT ferry_internal.describe_columns('ferry.import_funnel', 'ferry.imports');
COMMENT ON COLUMN ferry.import_funnel.import IS 'The import (imports.id).';
COMMENT ON COLUMN ferry.import_funnel.rejected_by_check IS 'Rows that failed the check of the file.';
COMMENT ON COLUMN ferry.import_funnel.to_send IS 'Rows that passed all checks: sent, or waiting to be sent.';
COMMENT ON COLUMN ferry.import_funnel.pending IS 'Rows still waiting to be sent.';
COMMENT ON COLUMN ferry.import_funnel.missing IS 'Rows that are unaccounted for: always 0.';
