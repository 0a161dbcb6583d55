-- How fresh each inventory is, of each account that was ever synced or that a worker is configured to sync. A listing is
-- complete if its run applied all of it (succeeded, or held), and counts if it is of the folders of the freshness target, or of all.
CREATE OR REPLACE VIEW ferry.freshness AS
  WITH judged AS (
    SELECT k.account, k.inventory, c.id, c.at, a.age, p.target, p.schedule,
      CASE WHEN p.target IS NULL AND (c.at IS NOT NULL OR NOT EXISTS (
          -- Of an account that was taken away, failed runs may be all that is left.
          SELECT FROM ferry.sync_runs r
          WHERE r.account = k.account AND r.resource = k.inventory AND r.started_at > clock_timestamp() - interval '1 day')
        ) THEN 'no target'
        WHEN c.at IS NULL THEN 'never'
        WHEN a.age > p.target OR a.age < interval '0' THEN 'late' ELSE 'fresh' END AS state
    FROM ferry.inventories k
    LEFT JOIN ferry.freshness_targets p ON p.account = k.account AND p.resource = k.inventory
    LEFT JOIN LATERAL (
      -- The newest by its id: after the clock was set back, older runs have later times.
      SELECT o.id, o.at FROM (
        (SELECT r.id, least(r.started_at, r.finished_at) AS at FROM ferry.sync_runs r
         WHERE r.account = k.account AND r.resource = k.inventory AND r.status IN ('succeeded', 'held')
           AND r.scope -> 'folders' = p.folders
         ORDER BY r.id DESC LIMIT 1)
        UNION ALL
        (SELECT r.id, least(r.started_at, r.finished_at) FROM ferry.sync_runs r
         WHERE r.account = k.account AND r.resource = k.inventory AND r.status IN ('succeeded', 'held')
           AND r.scope -> 'folders' = '["0"]'
         ORDER BY r.id DESC LIMIT 1)
        UNION ALL
        (SELECT r.id, least(r.started_at, r.finished_at) FROM ferry.sync_runs r
         WHERE r.account = k.account AND r.resource = k.inventory AND r.status IN ('succeeded', 'held')
           AND p.folders IS NULL
         ORDER BY r.id DESC LIMIT 1)
      ) o ORDER BY o.id DESC LIMIT 1
    ) c ON true
    CROSS JOIN LATERAL (SELECT clock_timestamp() - c.at AS age) a
  )
  SELECT j.account, j.inventory, j.at AS last_complete_at, j.id AS last_complete_run, j.age, j.target, j.state,
    CASE WHEN j.state NOT IN ('late', 'never') THEN NULL
      WHEN j.age < interval '0' THEN 'clock set back'
      WHEN EXISTS (SELECT FROM ferry.schedule_pauses s WHERE s.schedule = j.schedule AND s.account = j.account) THEN 'paused'
      ELSE coalesce(l.status, u.status, 'no run') END AS why_late,
    l.id AS last_failed_run, l.error_code, l.request_id
  FROM judged j
  -- What was tried since, and ended.
  LEFT JOIN LATERAL (
    SELECT r.id, r.status, r.error_code, r.request_id FROM ferry.sync_runs r
    WHERE r.account = j.account AND r.resource = j.inventory AND r.id > coalesce(j.id, 0)
      AND r.status IN ('failed', 'partial')
    ORDER BY r.id DESC LIMIT 1
  ) l ON j.state IN ('late', 'never')
  LEFT JOIN LATERAL (
    SELECT r.status FROM ferry.sync_runs r
    WHERE r.account = j.account AND r.resource = j.inventory AND r.id > coalesce(j.id, 0) AND r.finished_at IS NULL
    ORDER BY r.id DESC LIMIT 1
  ) u ON j.state IN ('late', 'never')
  ORDER BY j.account, j.inventory;

COMMENT ON VIEW ferry.freshness IS 'How fresh each inventory is: when it was last read completely, how old it may be, and why it is late.';
COMMENT ON COLUMN ferry.freshness.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.freshness.inventory IS 'alert-rules or mcp-servers.';
COMMENT ON COLUMN ferry.freshness.last_complete_at IS 'When Ferry began to read the last complete listing: the stored data is as the platform had it then, or later. Null if there has been none.';
COMMENT ON COLUMN ferry.freshness.last_complete_run IS 'The run (sync_runs.id) that applied it.';
COMMENT ON COLUMN ferry.freshness.age IS 'How long ago that was, by the clock of this database.';
COMMENT ON COLUMN ferry.freshness.target IS 'How old the inventory may be: three poll intervals; for MCP servers that are not polled, the interval of the nightly schedule and one hour. Null as long as no worker has run.';
COMMENT ON COLUMN ferry.freshness.state IS 'fresh; late: older than its freshness target; never: no complete listing so far; no target: no worker has run, so it is not known how old it may be, and within a day nothing failed that was never read.';
COMMENT ON COLUMN ferry.freshness.why_late IS 'Why it is late or never: failed, partial (the last run that ended since), running (the first run since has not ended), no run (none was tried since), paused (its schedule is), clock set back (the listing is later than now). Else null.';
COMMENT ON COLUMN ferry.freshness.last_failed_run IS 'The last run since that failed or was partial, if it is late or never.';
COMMENT ON COLUMN ferry.freshness.error_code IS 'The error code of that run.';
COMMENT ON COLUMN ferry.freshness.request_id IS 'The request_id of the call that failed that run, for the platform''s support.';
