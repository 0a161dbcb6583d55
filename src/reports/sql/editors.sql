CREATE OR REPLACE FUNCTION ferry.editors(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), updater_id numeric(20, 0), updater_name text, edits integer,
  share double precision, last_edit timestamptz, only_editor boolean
) LANGUAGE sql STABLE SET jit = off SET enable_mergejoin = off SET enable_nestloop = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH counted AS MATERIALIZED (
    SELECT e.account, e.folder_id, e.updater_id, count(*) AS edits, max(e.edited_at) AS last_edit
    FROM ferry_internal.rule_edits(coalesce($1, now() - interval '30 days')) e
    GROUP BY e.account, e.folder_id, e.updater_id
  ), people AS MATERIALIZED (
    -- The name of a person, from the latest edit.
    SELECT p.account, p.updater_id, v.updater_name
    FROM (SELECT c.account, c.updater_id, max(c.last_edit) AS at FROM counted c GROUP BY c.account, c.updater_id) p
    CROSS JOIN LATERAL (
      SELECT v.updater_name FROM ferry.alert_rule_versions v
      WHERE v.valid_from = p.at AND v.account = p.account AND v.updater_id = p.updater_id LIMIT 1
    ) v
  )
  SELECT c.account, c.folder_id, c.updater_id, p.updater_name, c.edits::int,
    (c.edits / sum(c.edits) OVER folder)::float8, c.last_edit, count(*) OVER folder = 1
  FROM counted c JOIN people p ON p.account = c.account AND p.updater_id = c.updater_id
  WINDOW folder AS (PARTITION BY c.account, c.folder_id)
  ORDER BY count(*) OVER folder, c.account, c.folder_id, c.edits DESC, c.updater_id
$$;

COMMENT ON FUNCTION ferry.editors IS 'Who edited the alert rules of each folder since a time (null: 30 days ago), folders with the fewest editors first. edits: changes of rules that were known before; share: of all edits of the folder. only_editor: nobody else edited the folder in that time.';
