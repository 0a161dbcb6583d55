-- The rules of that night that are still as they were, in the index of current rules, and those that ended since then, in the
-- index by end. Postgres cannot know the night, and takes a third of all versions to have ended since then, anywhere in the
-- table: whoever asks sets random_page_cost to what it is in a cache, else it reads all versions; and forbids plain scans of an
-- index, so that rules which began later are left out, and pages put in order, before the table is read.
CREATE OR REPLACE FUNCTION ferry.alert_rules_of_night(night date)
RETURNS TABLE (
  account text, id numeric(20, 0), folder_id numeric(20, 0), name text, labels jsonb, team text, enabled boolean,
  debug_log_enabled boolean, triggered boolean, creator_name text, updater_name text
) LANGUAGE sql STABLE AS $$
  WITH taken AS MATERIALIZED (
    SELECT s.account, s.taken_at FROM ferry.snapshots_of_night($1) s
  ), firing AS MATERIALIZED (
    -- Two looks into indexes: an OR would read all episodes.
    SELECT f.account, f.id FROM taken t
    JOIN ferry.alert_rule_firings f ON f.account = t.account AND f.began <= t.taken_at AND f.ended > t.taken_at
    UNION ALL
    SELECT f.account, f.id FROM taken t
    JOIN ferry.alert_rule_firings f ON f.account = t.account AND f.began <= t.taken_at AND f.ended IS NULL
  )
  SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, f.id IS NOT NULL,
    v.creator_name, v.updater_name
  FROM (
    SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, v.creator_name, v.updater_name
    FROM taken t
    JOIN ferry.alert_rule_versions v ON v.account = t.account AND v.valid_from <= t.taken_at AND v.valid_to IS NULL
    UNION ALL
    SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, v.creator_name, v.updater_name
    FROM taken t
    JOIN ferry.alert_rule_versions v ON v.account = t.account AND v.valid_from <= t.taken_at AND v.valid_to > t.taken_at
  ) v
  LEFT JOIN firing f ON f.id = v.id AND f.account = v.account
$$;

COMMENT ON FUNCTION ferry.alert_rules_of_night IS 'The alert rules as each account''s snapshot of a night shows them, see ferry.nights; none of an account that has no snapshot of that night. Raises an error if the history starts later.';
