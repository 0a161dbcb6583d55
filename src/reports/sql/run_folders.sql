-- As its owner, like complete_runs.
CREATE OR REPLACE VIEW ferry_internal.run_folders AS
  SELECT r.id, r.scope -> 'folders' AS folders FROM ferry.sync_runs r;

COMMENT ON VIEW ferry_internal.run_folders IS 'The folders that each run asked for.';
COMMENT ON COLUMN ferry_internal.run_folders.id IS 'The run (sync_runs.id).';
COMMENT ON COLUMN ferry_internal.run_folders.folders IS 'As JSON; 0 stands for all.';
