-- A version that began at the instant at which the one before it ended is a change. All others are few, and looked up. Before the
-- history starts nobody knows whether a version had one before it.
CREATE OR REPLACE FUNCTION ferry.churn_by_folder(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), added integer, changed integer, removed integer, returned integer, changes integer,
  rules_now integer, first_read integer
) LANGUAGE sql STABLE
SET jit = off SET enable_mergejoin = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH asked AS MATERIALIZED (
    SELECT greatest(coalesce($1, now() - interval '7 days'), (SELECT h.starts_at FROM ferry.history h)) AS since
  ), alone AS MATERIALIZED (
    SELECT coalesce(b.account, e.account) AS account, coalesce(b.id, e.id) AS id, coalesce(b.at, e.at) AS at, b.folder_id,
      b.id IS NULL AS is_removed
    FROM (
      SELECT v.id, v.account, v.valid_from AS at, v.folder_id FROM ferry.alert_rule_versions v
      WHERE v.valid_from >= (SELECT asked.since FROM asked) AND v.valid_from < 'infinity'
        AND v.appeared IS DISTINCT FROM 'first reading'
    ) b
    FULL JOIN (
      SELECT v.id, v.account, v.valid_to AS at FROM ferry.alert_rule_versions v
      WHERE v.valid_to >= (SELECT asked.since FROM asked) AND v.valid_to < 'infinity'
    ) e ON e.id = b.id AND e.account = b.account AND e.at = b.at
    WHERE b.id IS NULL OR e.id IS NULL
  ), counted AS (
    SELECT v.account, v.folder_id, count(*) FILTER (WHERE v.appeared IS DISTINCT FROM 'first reading') AS began,
      count(*) FILTER (WHERE v.appeared = 'first reading') AS first_read, 0 AS added, 0 AS returned, 0 AS removed
    FROM ferry.alert_rule_versions v
    WHERE v.valid_from >= (SELECT asked.since FROM asked) AND v.valid_from < 'infinity'
    GROUP BY v.account, v.folder_id
    UNION ALL
    SELECT a.account, coalesce(a.folder_id, o.folder_id), 0, 0, count(*) FILTER (WHERE NOT a.is_removed AND o.id IS NULL),
      count(*) FILTER (WHERE NOT a.is_removed AND o.id IS NOT NULL), count(*) FILTER (WHERE a.is_removed)
    FROM alone a
    LEFT JOIN LATERAL (
      SELECT o.id, o.folder_id FROM ferry.alert_rule_versions o
      WHERE o.id = a.id AND o.account = a.account AND o.valid_from < a.at ORDER BY o.valid_from DESC LIMIT 1
    ) o ON true
    GROUP BY 1, 2
  ), summed AS (
    SELECT c.account, c.folder_id, sum(c.began) AS began, sum(c.first_read) AS first_read, sum(c.added) AS added, sum(c.returned) AS returned,
      sum(c.removed) AS removed
    FROM counted c GROUP BY c.account, c.folder_id
  ), present AS (
    SELECT v.account, v.folder_id, count(*) AS rules FROM ferry.alert_rule_versions v
    WHERE v.valid_to IS NULL GROUP BY v.account, v.folder_id
  )
  SELECT s.account, s.folder_id, s.added::int, (s.began - s.added - s.returned)::int, s.removed::int, s.returned::int,
    (s.began + s.removed)::int, coalesce(p.rules, 0)::int, s.first_read::int
  FROM summed s LEFT JOIN present p ON p.account = s.account AND p.folder_id = s.folder_id
  ORDER BY 7 DESC, s.account, s.folder_id
$$;

COMMENT ON FUNCTION ferry.churn_by_folder IS 'How many alert rules of each folder were added, changed, removed and returned since a time (null: seven days ago), as often as it was observed, but not before history_start(), the folder with the most changes first. rules_now: how many rules it has. first_read: how many a first reading found, which are no change. A rule that moved is a change of the folder it is in now.';
