-- As its owner, and without the rest of the scope, which has a hash of the key in it.
CREATE OR REPLACE VIEW ferry_internal.complete_runs AS
  SELECT r.id, r.account, r.resource AS inventory, r.scope -> 'folders' AS folders, r.started_at, r.finished_at,
    coalesce(r.applied_at, r.finished_at) AS applied_at,
    coalesce((
      SELECT NOT EXISTS (
        SELECT FROM ferry.sync_runs o
        WHERE o.account = r.account AND o.resource = r.resource AND o.status IN ('succeeded', 'partial', 'held')
          AND o.scope - 'folders' <> r.scope - 'folders' AND o.id < r.id AND o.id > least(l.id, (
            SELECT min(e.id) FROM (
              SELECT e.id, e.scope FROM ferry.sync_runs e
              WHERE e.account = r.account AND e.resource = r.resource AND e.status IN ('succeeded', 'partial', 'held') AND e.id < r.id
              ORDER BY e.id DESC LIMIT 20
            ) e WHERE e.scope = r.scope)))
      FROM (
        SELECT e.id FROM ferry.sync_runs e
        WHERE e.account = r.account AND e.resource = r.resource AND e.scope -> 'folders' = r.scope -> 'folders'
          AND e.status IN ('succeeded', 'held') AND e.id < r.id AND e.scope = r.scope
        ORDER BY e.id DESC LIMIT 1
      ) l
    ), false) AS knows_absent,
    -- By hand, folders may be named. They are those that were set then if a schedule read the same just before.
    r.trigger <> 'manual' OR r.scope -> 'folders' = (
      SELECT s.scope -> 'folders' FROM ferry.sync_runs s
      WHERE s.account = r.account AND s.resource = r.resource AND s.trigger <> 'manual' AND s.id < r.id
      ORDER BY s.id DESC LIMIT 1
    ) AS is_scheduled
  FROM ferry.sync_runs r
  WHERE r.status IN ('succeeded', 'held');

COMMENT ON VIEW ferry_internal.complete_runs IS 'The runs that applied a complete listing, each with the folders that it listed.';
SELECT ferry_internal.describe_columns('ferry_internal.complete_runs', 'ferry.sync_runs');
COMMENT ON COLUMN ferry_internal.complete_runs.inventory IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry_internal.complete_runs.folders IS 'The folders that it listed, as JSON; 0 stands for all.';
COMMENT ON COLUMN ferry_internal.complete_runs.applied_at IS 'When what it read became visible.';
COMMENT ON COLUMN ferry_internal.complete_runs.knows_absent IS 'Whether a run before it had the same scope, and none since then, nor between the last ones of this scope, saw other rows: else it removed nothing.';
COMMENT ON COLUMN ferry_internal.complete_runs.is_scheduled IS 'Whether it listed the folders that were set then.';
