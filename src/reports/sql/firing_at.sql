-- `ended < 'infinity'` makes Postgres take the index by end: most episodes that began before a moment ended before it too.
-- In a blind stretch, what fired before it and what fires after it may both have been firing. `unseen`: what the last reading before
-- the moment did not have, though it is current: its row was quarantined, or its removal held or rejected. A hold that a run ended
-- counted until that run was applied. Nobody knows either of a folder that was read neither before the moment nor after it.
CREATE OR REPLACE FUNCTION ferry.firing_at(at timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, labels jsonb, enabled boolean, began timestamptz,
  ended timestamptz, fired_for interval, known boolean
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH readings AS MATERIALIZED (
    SELECT g.*, coalesce(s.folders, '[]') || coalesce(n.folders, '[]') AS folders FROM ferry_internal.readings_between($1, $1) g
    LEFT JOIN ferry_internal.complete_runs s ON s.id = g.since_run
    LEFT JOIN ferry_internal.complete_runs n ON n.id = g.run_id
    WHERE g.inventory = 'alert-rules' AND ferry_internal.expect_history($1)
  ), blind AS MATERIALIZED (
    SELECT g.account, coalesce(g.since_applied, '-infinity') AS since, coalesce(g.applied_at, 'infinity') AS until
    FROM readings g
    WHERE g.is_blind AND coalesce(g.since_applied, '-infinity') < $1 AND coalesce(g.applied_at, 'infinity') > $1
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
  ), unseen AS MATERIALIZED (
    SELECT r.account, q.id FROM ferry.quarantined_rows q
    JOIN ferry.sync_runs r ON r.id = q.run_id AND r.resource = 'alert-rules' AND r.applied_at <= $1
    LEFT JOIN ferry.sync_runs u ON u.id = q.until_run
    WHERE q.reason NOT IN ('a row with the same id came before it', 'the same id came in the listing of another folder; that row is used')
      AND (u.applied_at <= $1) IS NOT TRUE
    UNION
    SELECT o.account, h.id FROM (
      SELECT o.*, (SELECT l.finished_at FROM ferry.sync_runs l
        WHERE l.account = o.account AND l.resource = o.resource AND l.applied_at <= $1 ORDER BY l.applied_at DESC LIMIT 1) AS last_read
      FROM ferry.removal_holds o WHERE o.resource = 'alert-rules' OFFSET 0
    ) o
    CROSS JOIN LATERAL unnest(o.ids, o.since_runs) h (id, since_run)
    JOIN ferry.sync_runs r ON r.id = h.since_run AND r.applied_at <= $1
    WHERE coalesce(o.ended_at > o.last_read, true) OR h.id = ANY (o.rejected_ids)
  )
  SELECT f.account, f.id, v.name, v.folder_id, v.team, v.labels, v.enabled, f.began, f.ended,
    CASE WHEN f.began <= $1 THEN $1 - f.began END, f.known AND u.id IS NULL
    AND NOT EXISTS (
      SELECT FROM readings g WHERE g.account = f.account AND NOT g.folders @> '["0"]' AND NOT g.folders @> to_jsonb(v.folder_id::text))
  FROM firing f
  LEFT JOIN unseen u ON u.account = f.account AND u.id = f.id::text
  CROSS JOIN LATERAL (
    SELECT v.name, v.folder_id, v.team, v.labels, v.enabled FROM ferry.alert_rule_versions v
    WHERE v.id = f.id AND v.account = f.account AND v.valid_from <= greatest($1, f.began) ORDER BY v.valid_from DESC LIMIT 1
  ) v
  WHERE ferry_internal.expect_history($1)
  ORDER BY f.began, f.account, f.id
$$;

COMMENT ON FUNCTION ferry.firing_at IS 'The alert rules that were firing at a moment, longest first: as they were then, with the whole episode as observed; fired_for: for how long by then. known is false where nothing complete was read for longer than the freshness target (see around, kind blind): then these fired before or after that time, and nobody knows of the moment itself; and of a rule that the last reading did not have, because its row was quarantined or its removal was held or rejected, or whose folder was read neither before the moment nor after it: it fired before. fired_for is null for a rule that was first seen firing after the moment. Raises an error if the history starts later.';
