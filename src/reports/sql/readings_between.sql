-- Neighbours among the complete readings of each inventory, as blind_spots pairs them. A run may start before a moment and end after it,
-- so it begins with the second-last run before `a`.
-- Without a freshness target, it is that of a worker with the default settings, for the folders that were read last. What schedules
-- read before today's folders were set counts too: those were of then.
CREATE OR REPLACE FUNCTION ferry_internal.readings_between(a timestamptz, b timestamptz)
RETURNS TABLE (
  account text, inventory text, since_run bigint, since timestamptz, since_applied timestamptz, run_id bigint, applied_at timestamptz,
  is_blind boolean
) LANGUAGE sql STABLE AS $$
  SELECT s.account, s.inventory, s.since_run, s.since, s.since_applied, s.run_id, s.applied_at,
    -- By the target of then, and from a change of it on by the new one.
    s.since IS NULL OR coalesce(s.applied_at, now()) > CASE WHEN s.since + s.target_before < s.target_changed_at THEN s.since + s.target_before
      ELSE greatest(s.since + s.target, s.target_changed_at) END
  FROM (
    SELECT i.account, i.inventory, i.target, i.target_before, i.target_changed_at, f.id AS edge_run, c.id AS run_id, c.applied_at, lag(c.id) OVER w AS since_run,
      lag(c.started_at) OVER w AS since, lag(c.applied_at) OVER w AS since_applied
    FROM (
      SELECT n.account, n.inventory, coalesce(p.target, '3 minutes') AS target, p.target_before, p.target_changed_at, coalesce(p.folders, (
          SELECT c.folders FROM ferry_internal.complete_runs c WHERE c.account = n.account AND c.inventory = n.inventory
          ORDER BY c.id DESC LIMIT 1)) AS folders,
        coalesce((SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= p.target_since ORDER BY r.started_at LIMIT 1),
          9223372036854775807 * (p.target_since IS NOT NULL)::integer) AS same_since
      FROM ferry.inventories n
      LEFT JOIN ferry.freshness_targets p ON p.account = n.account AND p.resource = n.inventory
      OFFSET 0
    ) i
    CROSS JOIN (
      SELECT coalesce((SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= $1 ORDER BY r.started_at LIMIT 1),
          9223372036854775807) AS first_run,
        coalesce((SELECT r.id FROM ferry.sync_runs r WHERE r.started_at > $2 ORDER BY r.started_at LIMIT 1),
          9223372036854775807) AS next_run
    ) t
    LEFT JOIN LATERAL (
      SELECT e.id FROM (
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders = i.folders AND c.id < t.first_run
         ORDER BY c.id DESC LIMIT 2)
        UNION
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders = '["0"]' AND c.id < t.first_run
         ORDER BY c.id DESC LIMIT 2)
        UNION
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.is_scheduled AND c.id < least(t.first_run, i.same_since)
         ORDER BY c.id DESC LIMIT 2)
      ) e ORDER BY e.id DESC OFFSET 1 LIMIT 1
    ) f ON true
    LEFT JOIN LATERAL (
      SELECT e.id FROM (
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders = i.folders AND c.id >= t.next_run
         ORDER BY c.id LIMIT 1)
        UNION ALL
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders = '["0"]' AND c.id >= t.next_run
         ORDER BY c.id LIMIT 1)
        UNION ALL
        (SELECT c.id FROM ferry_internal.complete_runs c
         WHERE c.account = i.account AND c.inventory = i.inventory AND c.is_scheduled AND c.id >= t.next_run AND c.id < i.same_since
         ORDER BY c.id LIMIT 1)
      ) e ORDER BY e.id LIMIT 1
    ) l ON true
    CROSS JOIN LATERAL (
      SELECT c.id, least(c.started_at, c.finished_at) AS started_at, c.applied_at FROM ferry_internal.complete_runs c
      WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders IN (i.folders, '["0"]')
        AND c.id BETWEEN coalesce(f.id, 0) AND coalesce(l.id, 9223372036854775807)
      UNION ALL
      SELECT c.id, least(c.started_at, c.finished_at), c.applied_at FROM ferry_internal.complete_runs c
      WHERE c.account = i.account AND c.inventory = i.inventory AND c.folders NOT IN (i.folders, '["0"]') AND c.is_scheduled
        AND c.id >= coalesce(f.id, 0) AND c.id <= coalesce(l.id, 9223372036854775807) AND c.id < i.same_since
      -- What was not read yet.
      UNION ALL SELECT NULL, NULL, NULL WHERE l.id IS NULL
    ) c
    WINDOW w AS (PARTITION BY i.account, i.inventory ORDER BY c.id)
  ) s
  WHERE coalesce(s.applied_at, 'infinity') >= $1 AND coalesce(s.since, '-infinity') <= $2
    AND (s.run_id = s.edge_run) IS NOT TRUE
$$;

COMMENT ON FUNCTION ferry_internal.readings_between IS 'The complete readings of each inventory from one instant to another, each with the one before it: since_run began at since and was applied at since_applied; run_id was applied at applied_at, or is null if nothing complete was read after it. since is null if nothing complete was read before. is_blind: from one to the other it took longer than the freshness target. For around and firing_at.';
