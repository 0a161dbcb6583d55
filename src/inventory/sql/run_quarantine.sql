-- The first part is what the run stored itself. The second is what an earlier run of the same scope stored and this one met
-- again. It runs as its owner, so that the role that only reads need not read the scope, which holds a hash of the key.
CREATE OR REPLACE VIEW ferry_internal.run_quarantine AS
  SELECT q.run_id, q.position, q.id, q.reason, q.run_id AS first_run
  FROM ferry.quarantined_rows q
  UNION ALL
  SELECT run.id, q.position, q.id, q.reason, q.run_id
  FROM ferry.sync_runs run
  JOIN ferry.quarantined_rows q
    ON q.run_id < run.id AND (q.until_run IS NULL OR q.until_run > run.id)
  JOIN ferry.sync_runs earlier
    ON earlier.id = q.run_id AND earlier.account = run.account AND earlier.resource = run.resource AND earlier.scope = run.scope
  WHERE run.applied_at IS NOT NULL;

COMMENT ON VIEW ferry_internal.run_quarantine IS 'The stored rows that each run quarantined, including rows stored by an earlier run. Filter by run_id. At most 500 rows are stored per scope.';
SELECT ferry_internal.describe_columns('ferry_internal.run_quarantine', 'ferry.quarantined_rows');
COMMENT ON COLUMN ferry_internal.run_quarantine.run_id IS 'The run (sync_runs.id) that met the row.';
COMMENT ON COLUMN ferry_internal.run_quarantine.first_run IS 'The run that met it first in this form. The row itself is in quarantined_rows, under this run and this position.';
