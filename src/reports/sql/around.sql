-- What is observed by a reading happened after the reading before it: both ends are shown, and a row belongs to each span that
-- it may have happened in, up to what the first complete reading after the span observed. Only runs that observed something are
-- looked at, so an hour costs what it holds.
CREATE OR REPLACE FUNCTION ferry.around(at timestamptz, span interval DEFAULT '1 hour')
RETURNS TABLE (
  since timestamptz, observed_at timestamptz, kind text, account text, inventory text, id text, name text, folder_id numeric(20, 0),
  team text, labels jsonb, who text, before jsonb, after jsonb, while_firing boolean, run_id bigint
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH readings AS MATERIALIZED (
    SELECT g.* FROM ferry_internal.readings_between($1 - $2, $1 + $2) g WHERE ferry_internal.expect_history($1 - $2)
  ), runs AS MATERIALIZED (
    SELECT r.* FROM (
      SELECT g.account, g.inventory, min(coalesce(g.since_run, 0)) AS first, max(coalesce(g.run_id, 9223372036854775807)) AS last
      FROM readings g GROUP BY g.account, g.inventory
    ) i
    CROSS JOIN LATERAL (
      SELECT r.id, r.account, r.resource, r.started_at, r.applied_at, r.first_read, r.status FROM ferry.sync_runs r
      WHERE r.account = i.account AND r.resource = i.inventory AND r.id BETWEEN i.first AND i.last
        AND (r.added + r.changed + r.removed + r.fired + r.recovered > 0 OR r.status = 'held')
        -- Not by the index of instants: it has the runs of all later times.
        AND coalesce(r.applied_at, '-infinity') >= $1 - $2
      OFFSET 0
    ) r
  ), observed AS MATERIALIZED (
    SELECT o.*, coalesce(u.first_run, o.run_id) AS unseen_from
    FROM ferry_internal.observed_by(ARRAY(SELECT r.id FROM runs r)) o
    LEFT JOIN ferry_internal.unseen_since(ARRAY(SELECT r.id FROM runs r)) u ON u.run_id = o.run_id AND u.id = o.id
  ), covered AS MATERIALIZED (
    SELECT * FROM ferry_internal.covered_since(ARRAY(
      SELECT o.unseen_from FROM observed o UNION SELECT r.id FROM runs r WHERE r.status = 'held'))
  ), begun AS MATERIALIZED (
    SELECT p.unseen_from, p.seen_in, l.since, l.absent_since
    FROM (SELECT DISTINCT o.unseen_from, o.seen_in FROM observed o) p
    CROSS JOIN LATERAL (
      SELECT max(c.since) AS since, max(c.absent_since) AS absent_since FROM covered c
      WHERE c.run_id = p.unseen_from AND (p.seen_in IS NULL OR c.folders ? '0' OR c.folders ? p.seen_in::text)
    ) l
  )
  SELECT e.* FROM (
    SELECT CASE WHEN o.kind IN ('rule.removed', 'server.removed') OR o.before ? 'folder_id' THEN b.absent_since ELSE b.since END, o.observed_at, o.kind, o.account, o.inventory, o.id, o.name, o.folder_id, o.team, o.labels, o.who, o.before, o.after,
      o.while_firing, o.run_id
    FROM observed o
    JOIN begun b ON b.unseen_from = o.unseen_from AND b.seen_in IS NOT DISTINCT FROM o.seen_in
    UNION ALL
    SELECT r.started_at, r.applied_at, 'inventory.first_read', r.account, r.resource, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      jsonb_build_object('rows', r.first_read), NULL, r.id
    FROM runs r WHERE r.first_read > 0
    UNION ALL
    SELECT (SELECT max(c.absent_since) FROM covered c WHERE c.run_id = r.id AND (c.folders ? '0'
        OR c.folders = (SELECT o.folders FROM ferry_internal.complete_runs o WHERE o.id = r.id))),
      r.applied_at, 'removals.held', r.account, r.resource, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      jsonb_build_object('rows', count(*)), NULL, r.id
    FROM runs r
    JOIN ferry.removal_holds o ON o.account = r.account AND o.resource = r.resource AND r.id BETWEEN o.opened_by_run AND o.last_run
    CROSS JOIN LATERAL unnest(o.ids, o.since_runs) h (id, since_run)
    WHERE r.status = 'held' AND h.since_run = r.id
    GROUP BY r.id, r.applied_at, r.account, r.resource
    UNION ALL
    SELECT g.since_applied, g.applied_at, 'blind', g.account, g.inventory, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      (SELECT jsonb_build_object('error_code', r.error_code) FROM ferry.sync_runs r
       WHERE r.account = g.account AND r.resource = g.inventory AND r.id > coalesce(g.since_run, 0)
         AND r.id < coalesce(g.run_id, 9223372036854775807) AND r.status IN ('failed', 'partial')
       ORDER BY r.id DESC LIMIT 1), NULL, g.run_id
    FROM readings g WHERE g.is_blind
    UNION ALL
    SELECT a.at, a.at, 'decision', a.account, NULL, a.subject_id, a.action || ' ' || a.subject_kind, NULL, NULL, NULL, a.actor, NULL,
      jsonb_build_object('because', a.because), NULL, NULL
    FROM ferry.audit a WHERE a.at BETWEEN $1 - $2 AND $1 + $2
    UNION ALL
    SELECT i.started_at, i.started_at, 'import.started', i.account, NULL, i.id::text, i.file, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM ferry.imports i WHERE i.started_at BETWEEN $1 - $2 AND $1 + $2
    UNION ALL
    SELECT i.finished_at, i.finished_at, 'import.ended', i.account, NULL, i.id::text, i.file, NULL, NULL, NULL, NULL, NULL,
      jsonb_build_object('status', i.status), NULL, NULL
    FROM ferry.imports i WHERE i.finished_at BETWEEN $1 - $2 AND $1 + $2
  ) e
  WHERE coalesce(e.since, '-infinity') <= $1 + $2 AND coalesce(e.observed_at, 'infinity') >= $1 - $2
    -- What happened after the end of the span is not in it; what was done at its end is.
    AND (e.since IS DISTINCT FROM $1 + $2 OR e.observed_at = e.since)
  ORDER BY e.observed_at NULLS LAST, e.kind <> 'blind', e.account, e.inventory, e.kind, e.id, e.name, e.before, e.after
$$;

COMMENT ON FUNCTION ferry.around IS 'What happened around a moment, an hour before and after by default, in the order in which it was observed. Each row happened after since and not later than observed_at; since is null if nobody knows since when it may have. kind: rule.added, rule.changed, rule.disabled, rule.enabled, rule.removed, rule.returned, rule.fired, rule.cleared; server.added, server.changed, server.removed, server.returned; tool.added, tool.removed, tool.changed; decision (of a person, see audit); import.started, import.ended; inventory.first_read and removals.held (rows in after; what is held is removed later, or not at all); blind: nothing complete was read from since to observed_at (null: to this day) for longer than the freshness target, so nothing is known of that time. while_firing: a rule was changed while it fired. before and after: the fields that differ. Raises an error if the history starts later.';
