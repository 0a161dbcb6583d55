-- `ended < 'infinity'` makes Postgres take the index by end: most episodes that began before a moment ended before it too.
-- In a blind stretch, what fired before it and what fires after it may both have been firing.
CREATE OR REPLACE FUNCTION ferry.firing_at(at timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, labels jsonb, enabled boolean, began timestamptz,
  ended timestamptz, fired_for interval, known boolean
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH blind AS MATERIALIZED (
    SELECT g.account, coalesce(g.since_applied, '-infinity') AS since, coalesce(g.applied_at, 'infinity') AS until
    FROM ferry_internal.readings_between($1, $1) g
    WHERE g.inventory = 'alert-rules' AND g.is_blind AND coalesce(g.since_applied, '-infinity') < $1 AND coalesce(g.applied_at, 'infinity') > $1
      AND ferry_internal.expect_history($1)
  ), firing AS MATERIALIZED (
    SELECT f.account, f.id, f.began, f.ended, true AS known FROM ferry.alert_rule_firings f
    WHERE f.began <= $1 AND f.ended > $1 AND f.ended < 'infinity' AND f.account <> ALL (ARRAY(SELECT b.account FROM blind b))
    UNION ALL
    SELECT f.account, f.id, f.began, NULL, true FROM ferry.alert_rule_firings f
    WHERE f.began <= $1 AND f.ended IS NULL AND f.account <> ALL (ARRAY(SELECT b.account FROM blind b))
    UNION ALL
    SELECT f.account, f.id, f.began, f.ended, false FROM blind b
    JOIN ferry.alert_rule_firings f ON f.account = b.account AND f.began <= b.until AND f.ended > b.since AND f.ended < 'infinity'
    UNION ALL
    SELECT f.account, f.id, f.began, NULL, false FROM blind b
    JOIN ferry.alert_rule_firings f ON f.account = b.account AND f.began <= b.until AND f.ended IS NULL
  )
  SELECT f.account, f.id, v.name, v.folder_id, v.team, v.labels, v.enabled, f.began, f.ended,
    CASE WHEN f.began <= $1 THEN $1 - f.began END, f.known
  FROM firing f
  CROSS JOIN LATERAL (
    SELECT v.name, v.folder_id, v.team, v.labels, v.enabled FROM ferry.alert_rule_versions v
    WHERE v.id = f.id AND v.account = f.account AND v.valid_from <= greatest($1, f.began) ORDER BY v.valid_from DESC LIMIT 1
  ) v
  WHERE ferry_internal.expect_history($1)
  ORDER BY f.began, f.account, f.id
$$;

COMMENT ON FUNCTION ferry.firing_at IS 'The alert rules that were firing at a moment, longest first: as they were then, with the whole episode as observed; fired_for: for how long by then. known is false where nothing complete was read for longer than the freshness target (see around, kind blind): then these fired before or after that time, and nobody knows of the moment itself. fired_for is null for a rule that was first seen firing after the moment. Raises an error if the history starts later.';
