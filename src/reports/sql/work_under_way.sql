-- As its owner: readers may not see the tokens of leases. A lease that has expired is of a worker that died, or is about to be renewed.
CREATE OR REPLACE VIEW ferry.work_under_way AS
  SELECT l.holder, 'run' AS kind, r.account, r.resource AS name, r.id AS number, l.acquired_at AS since
  FROM ferry.sync_runs r
  JOIN ferry.leases l ON l.name = concat_ws(':', 'sync', r.account, r.resource) AND l.token = r.lease_token
  WHERE r.finished_at IS NULL AND l.expires_at > clock_timestamp()
  UNION ALL
  SELECT l.holder, 'import', i.account, i.page_id::text, i.id, l.acquired_at
  FROM ferry.imports i
  JOIN ferry.leases l ON l.name = concat_ws(':', 'import', i.account, i.page_id, i.method)
  WHERE i.finished_at IS NULL AND i.status IN ('queued', 'running') AND l.expires_at > clock_timestamp()
    -- Imports of a page have one lease: the oldest is sent.
    AND NOT EXISTS (
      SELECT FROM ferry.imports o
      WHERE o.account = i.account AND o.page_id = i.page_id AND o.method = i.method AND o.id < i.id
        AND o.status IN ('queued', 'running'))
  UNION ALL
  SELECT l.holder, 'schedule', s.account, s.schedule, NULL, l.acquired_at
  FROM ferry.schedule_slots s
  JOIN ferry.leases l ON l.name = concat_ws(
    ':', 'slot', s.schedule, s.account, to_char(s.slot AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  WHERE s.done_at IS NULL AND l.expires_at > clock_timestamp();

COMMENT ON VIEW ferry.work_under_way IS 'What workers are doing now: runs, imports and slots of schedules, each with its worker.';
COMMENT ON COLUMN ferry.work_under_way.holder IS 'The worker that is doing it (workers.holder), or a command that is doing it in its own process.';
COMMENT ON COLUMN ferry.work_under_way.kind IS 'run, import or schedule. A schedule lasts as long as the runs that it starts.';
COMMENT ON COLUMN ferry.work_under_way.account IS 'The account it is done for; * for all accounts.';
COMMENT ON COLUMN ferry.work_under_way.name IS 'The inventory of a run, the page of an import, or the name of a schedule.';
COMMENT ON COLUMN ferry.work_under_way.number IS 'The run (sync_runs.id) or the import (imports.id); null for a schedule.';
COMMENT ON COLUMN ferry.work_under_way.since IS 'Since when its worker has been doing it.';
