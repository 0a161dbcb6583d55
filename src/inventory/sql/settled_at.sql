-- What a run writes has an instant later than everything that was applied when its row was committed, and not before its
-- start (choose-instant.ts). So a query that sees a finished run sees all that is not later than it, except what a run that
-- it sees unfinished may still write. Both are looked up in the snapshot of the query that asks.
CREATE OR REPLACE FUNCTION ferry.settled_at() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT least(
    coalesce((SELECT applied_at FROM ferry.sync_runs WHERE applied_at IS NOT NULL ORDER BY applied_at DESC LIMIT 1), '-infinity'),
    (SELECT min(started_at) - interval '1 microsecond' FROM ferry.sync_runs WHERE finished_at IS NULL)
  )
$$;

COMMENT ON FUNCTION ferry.settled_at IS 'The instant up to which the history is final, except that old versions are pruned: every later commit has later instants. To poll for changes, ask for rows observed after the last row you received and up to this instant: you miss nothing and receive nothing twice.';
