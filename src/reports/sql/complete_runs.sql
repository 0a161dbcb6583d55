-- As its owner, and without the rest of the scope, which has a hash of the key in it.
CREATE OR REPLACE VIEW ferry.complete_runs AS
  SELECT r.id, r.account, r.resource AS inventory, r.scope -> 'folders' AS folders, r.started_at, r.finished_at
  FROM ferry.sync_runs r
  WHERE r.status IN ('succeeded', 'held');

COMMENT ON VIEW ferry.complete_runs IS 'The runs that applied a complete listing, each with the folders that it listed.';
SELECT ferry.describe_columns('ferry.complete_runs', 'ferry.sync_runs');
COMMENT ON COLUMN ferry.complete_runs.inventory IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.complete_runs.folders IS 'The folders that it listed, as JSON; 0 stands for all.';
