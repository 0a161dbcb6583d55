CREATE OR REPLACE VIEW ferry.audit_log AS
  SELECT a.at, a.account, a.actor, a.action, a.subject_kind || ' ' || a.subject_id AS subject, a.because, a.rows, a.of_rows
  FROM ferry.audit a
  ORDER BY a.id DESC;

COMMENT ON VIEW ferry.audit_log IS 'Manual actions, newest first; ferry audit lists the same.';
SELECT ferry_internal.describe_columns('ferry.audit_log', 'ferry.audit');
COMMENT ON COLUMN ferry.audit_log.subject IS 'What it was done to: a run, an import, a schedule or an event, and which one.';
