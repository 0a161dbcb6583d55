-- Of each run that is asked about, the complete readings before it: one for each set of folders that the account's runs list. One look
-- into the index for each, however long the last of them is ago. Which run knew what was absent is looked for among a thousand: while
-- workers have different keys, perhaps none did.
CREATE OR REPLACE FUNCTION ferry_internal.covered_since(runs bigint[])
RETURNS TABLE (run_id bigint, folders jsonb, since timestamptz, absent_since timestamptz) LANGUAGE sql STABLE AS $$
  WITH RECURSIVE asked AS MATERIALIZED (
    SELECT r.id, r.account, r.resource AS inventory FROM ferry.sync_runs r WHERE r.id = ANY ($1)
  ), scopes AS (
    SELECT i.account, i.inventory, f.folders FROM (SELECT DISTINCT a.account, a.inventory FROM asked a) i
    CROSS JOIN LATERAL (
      SELECT c.folders FROM ferry_internal.complete_runs c WHERE c.account = i.account AND c.inventory = i.inventory
      ORDER BY c.folders LIMIT 1
    ) f
    UNION ALL
    SELECT s.account, s.inventory, n.folders FROM scopes s
    CROSS JOIN LATERAL (
      SELECT c.folders FROM ferry_internal.complete_runs c
      WHERE c.account = s.account AND c.inventory = s.inventory AND c.folders > s.folders ORDER BY c.folders LIMIT 1
    ) n
  )
  SELECT a.id, s.folders, l.since, k.since FROM asked a
  JOIN scopes s ON s.account = a.account AND s.inventory = a.inventory
  CROSS JOIN LATERAL (
    SELECT least(c.started_at, c.finished_at) AS since FROM ferry_internal.complete_runs c
    WHERE c.account = a.account AND c.inventory = a.inventory AND c.folders = s.folders AND c.id < a.id
    ORDER BY c.id DESC LIMIT 1
  ) l
  LEFT JOIN LATERAL (
    SELECT least(c.started_at, c.finished_at) AS since FROM (
      SELECT c.id, c.started_at, c.finished_at, c.knows_absent FROM ferry_internal.complete_runs c
      WHERE c.account = a.account AND c.inventory = a.inventory AND c.folders = s.folders AND c.id < a.id ORDER BY c.id DESC LIMIT 1000
    ) c WHERE c.knows_absent ORDER BY c.id DESC LIMIT 1
  ) k ON true
$$;

COMMENT ON FUNCTION ferry_internal.covered_since IS 'When the last complete reading before each of these runs (sync_runs.id) began, for each set of folders that was listed: what a run observed happened after the reading that covers its folder; absent_since: the same for a removal, as the first reading of a scope removes nothing. For around.';
