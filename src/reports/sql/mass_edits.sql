-- Counts the different rules of the hour that begins with each edit: an edit is the first one of its rule in the hours that begin
-- after the one before, and not more than an hour before it. Hours with enough rules that overlap are one row.
CREATE OR REPLACE FUNCTION ferry.mass_edits(since timestamptz DEFAULT NULL, at_least integer DEFAULT 20)
RETURNS TABLE (
  account text, updater_id numeric(20, 0), updater_name text, began timestamptz, ended timestamptz, rules integer, edits integer,
  folders integer
) LANGUAGE sql STABLE SET jit = off SET enable_mergejoin = off SET enable_nestloop = off SET work_mem = '32MB' AS $$
  WITH edits AS MATERIALIZED (
    SELECT e.* FROM ferry_internal.rule_edits(coalesce($1, now() - interval '7 days')) e
  ), people AS MATERIALIZED (
    -- Numbers are sorted in a third of the time.
    SELECT e.account, e.updater_id, row_number() OVER () AS person FROM edits e GROUP BY e.account, e.updater_id HAVING count(*) >= $2
  ), known AS MATERIALIZED (
    SELECT p.person, e.id, e.folder_id, e.edited_at FROM edits e JOIN people p ON p.account = e.account AND p.updater_id = e.updater_id
  ), firsts AS MATERIALIZED (
    SELECT e.person, e.edited_at AS at, greatest(e.edited_at - interval '1 hour',
      lag(e.edited_at) OVER (PARTITION BY e.person, e.id ORDER BY e.edited_at) + interval '1 microsecond') AS first_from
    FROM known e
  ), steps AS (
    SELECT s.person, s.at, s.step, sum(s.step) OVER (PARTITION BY s.person ORDER BY s.at) AS rules
    FROM (
      SELECT f.person, f.first_from AS at, 1 AS step FROM firsts f
      UNION ALL SELECT f.person, f.at + interval '1 microsecond', -1 FROM firsts f
      UNION ALL SELECT DISTINCT f.person, f.at, 0 FROM firsts f
    ) s
  ), chained AS (
    SELECT h.person, h.at,
      h.at - lag(h.at) OVER (PARTITION BY h.person ORDER BY h.at) > interval '1 hour' AS is_new
    FROM steps h WHERE h.step = 0 AND h.rules >= $2
  ), numbered AS (
    SELECT c.*, count(*) FILTER (WHERE c.is_new) OVER (PARTITION BY c.person ORDER BY c.at) AS burst
    FROM chained c
  ), bursts AS MATERIALIZED (
    SELECT n.person, min(n.at) AS began, max(n.at) + interval '1 hour' AS until
    FROM numbered n GROUP BY n.person, n.burst
  ), counted AS (
    SELECT b.person, b.began, max(e.edited_at) AS ended, count(DISTINCT e.id) AS rules, count(*) AS edits,
      count(DISTINCT e.folder_id) AS folders, max(e.id) FILTER (WHERE e.edited_at = b.began) AS first_rule
    FROM bursts b
    JOIN known e ON e.person = b.person AND e.edited_at BETWEEN b.began AND b.until
    GROUP BY b.person, b.began
  )
  SELECT p.account, p.updater_id, v.updater_name, c.began, c.ended, c.rules::int, c.edits::int, c.folders::int
  FROM counted c
  JOIN people p ON p.person = c.person
  JOIN ferry.alert_rule_versions v ON v.id = c.first_rule AND v.account = p.account AND v.valid_from = c.began
  ORDER BY c.rules DESC, c.began, p.account, p.updater_id
$$;

COMMENT ON FUNCTION ferry.mass_edits IS 'Who edited many alert rules within an hour, since a time (null: seven days ago), the most rules first. One row lasts as long as at_least rules (20 by default) are edited in every hour of it; began and ended are the first and the last edit, as observed.';
