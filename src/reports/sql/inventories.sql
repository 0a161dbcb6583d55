-- One look into the index for each account and inventory, however many runs there are.
CREATE OR REPLACE VIEW ferry.inventories AS
  WITH RECURSIVE synced AS (
    (SELECT account, resource FROM ferry.sync_runs ORDER BY account, resource LIMIT 1)
    UNION ALL
    SELECT n.account, n.resource FROM synced s CROSS JOIN LATERAL (
      SELECT r.account, r.resource FROM ferry.sync_runs r WHERE (r.account, r.resource) > (s.account, s.resource)
      ORDER BY r.account, r.resource LIMIT 1
    ) n
  )
  SELECT account, resource AS inventory FROM synced
  UNION
  SELECT account, resource FROM ferry.freshness_targets;

COMMENT ON VIEW ferry.inventories IS 'Each inventory of each account that was ever synced, or that a worker is configured to sync.';
COMMENT ON COLUMN ferry.inventories.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.inventories.inventory IS 'alert-rules or mcp-servers.';
