-- Each edit counts the edits of the same person in the hour that it begins; where there are enough, hours that overlap
-- are one row.
CREATE OR REPLACE FUNCTION ferry.mass_edits(since timestamptz DEFAULT NULL, at_least integer DEFAULT 20)
RETURNS TABLE (
  account text, updater_id numeric(20, 0), updater_name text, began timestamptz, ended timestamptz, rules integer, edits integer,
  folders integer
) LANGUAGE sql STABLE SET jit = off SET enable_mergejoin = off SET enable_nestloop = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH edits AS MATERIALIZED (
    SELECT e.* FROM ferry_internal.rule_edits(coalesce($1, now() - interval '7 days')) e
  ), instants AS (
    SELECT e.account, e.updater_id, e.edited_at, count(*) AS edits FROM edits e GROUP BY e.account, e.updater_id, e.edited_at
  ), hours AS (
    SELECT i.account, i.updater_id, i.edited_at,
      sum(i.edits) OVER (PARTITION BY i.account, i.updater_id ORDER BY i.edited_at
        RANGE BETWEEN CURRENT ROW AND interval '1 hour' FOLLOWING) AS edits
    FROM instants i
  ), chained AS (
    SELECT h.account, h.updater_id, h.edited_at,
      h.edited_at - lag(h.edited_at) OVER (PARTITION BY h.account, h.updater_id ORDER BY h.edited_at) > interval '1 hour' AS is_new
    FROM hours h WHERE h.edits >= $2
  ), numbered AS (
    SELECT c.*, count(*) FILTER (WHERE c.is_new) OVER (PARTITION BY c.account, c.updater_id ORDER BY c.edited_at) AS burst
    FROM chained c
  ), bursts AS MATERIALIZED (
    SELECT n.account, n.updater_id, min(n.edited_at) AS began, max(n.edited_at) + interval '1 hour' AS until
    FROM numbered n GROUP BY n.account, n.updater_id, n.burst
  ), counted AS (
    SELECT b.account, b.updater_id, b.began, max(e.edited_at) AS ended, count(DISTINCT e.id) AS rules, count(*) AS edits,
      count(DISTINCT e.folder_id) AS folders, max(e.id) FILTER (WHERE e.edited_at = b.began) AS first_rule
    FROM bursts b
    JOIN edits e ON e.account = b.account AND e.updater_id = b.updater_id AND e.edited_at BETWEEN b.began AND b.until
    GROUP BY b.account, b.updater_id, b.began
  )
  SELECT c.account, c.updater_id, v.updater_name, c.began, c.ended, c.rules::int, c.edits::int, c.folders::int
  FROM counted c
  JOIN ferry.alert_rule_versions v ON v.id = c.first_rule AND v.account = c.account AND v.valid_from = c.began
  WHERE c.rules >= $2
  ORDER BY c.rules DESC, c.began, c.account, c.updater_id
$$;

COMMENT ON FUNCTION ferry.mass_edits IS 'Who edited many alert rules within an hour, since a time (null: seven days ago), the most rules first. One row lasts as long as at_least rules (20 by default) are edited in every hour of it; began and ended are the first and the last edit, as observed.';
