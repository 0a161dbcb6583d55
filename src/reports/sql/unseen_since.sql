-- A complete reading says nothing of a row that it quarantined, nor of one whose removal it held. Of a row that came twice, the first
-- was read all the same.
CREATE OR REPLACE FUNCTION ferry_internal.unseen_since(runs bigint[])
RETURNS TABLE (run_id bigint, id text, first_run bigint) LANGUAGE sql STABLE AS $$
  WITH RECURSIVE quarantined AS (
    SELECT q.until_run AS run_id, q.id, q.run_id AS first_run FROM ferry.quarantined_rows q
    WHERE q.until_run = ANY ($1) AND q.id IS NOT NULL AND q.reason NOT IN ('a row with the same id came before it', 'the same id came in the listing of another folder; that row is used')
    UNION ALL
    SELECT n.run_id, n.id, q.run_id FROM quarantined n
    JOIN ferry.quarantined_rows q ON q.until_run = n.first_run AND q.id = n.id AND q.run_id < n.first_run
  )
  SELECT u.run_id, u.id, min(u.first_run) FROM (
    SELECT n.run_id, n.id, n.first_run FROM quarantined n
    UNION ALL
    SELECT r.id, h.id, coalesce(h.since_run, o.opened_by_run) FROM ferry.sync_runs r
    JOIN ferry.removal_holds o ON o.account = r.account AND o.resource = r.resource AND o.opened_by_run < r.id
      AND (o.ended_at BETWEEN r.started_at AND r.finished_at OR o.outcome = 'rejected')
    CROSS JOIN LATERAL unnest(o.ids, o.since_runs) h (id, since_run)
    WHERE r.id = ANY ($1) AND h.id IS NOT NULL
  ) u
  GROUP BY u.run_id, u.id
$$;

COMMENT ON FUNCTION ferry_internal.unseen_since IS 'Rules and servers about which the complete readings before these runs (sync_runs.id) said nothing: their rows were quarantined, or their removal was held, from first_run on. For around.';
