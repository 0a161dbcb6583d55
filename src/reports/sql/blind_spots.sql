-- Looks at the complete runs since the last one before `since`. Runs that changed nothing are kept for some time only, so
-- it looks no farther back than that: what is left of the time before does not say when a gap began. What schedules read before
-- today's folders were set counts too: those were of then.
CREATE OR REPLACE FUNCTION ferry.blind_spots(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, inventory text, "from" timestamptz, "to" timestamptz, lasted interval, late_from timestamptz,
  fresh_again_at timestamptz, error_code text
) LANGUAGE sql STABLE SET jit = off AS $$
  SELECT i.account, i.inventory, g.at, g.next_at, coalesce(g.next_at, now()) - g.at,
    -- What a run has read is there once it has finished: until then the gap before it lasts.
    greatest(g.old_at, g.finished_at), nullif(least(g.next_finished_at, g.old_until), 'infinity'),
    l.error_code
  FROM (
    SELECT n.account, n.inventory, p.target, p.target_before, p.target_changed_at, p.folders, k.known_from, s.since, coalesce(
      (SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= s.since ORDER BY r.started_at LIMIT 1),
      9223372036854775807) AS run_since, coalesce(
      (SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= p.target_since ORDER BY r.started_at LIMIT 1),
      9223372036854775807) AS same_since
    FROM ferry.inventories n
    JOIN ferry.freshness_targets p ON p.account = n.account AND p.resource = n.inventory
    CROSS JOIN LATERAL (
      SELECT greatest(now() - p.runs_kept, (SELECT h.runs_start_at FROM ferry.history h)) AS known_from
    ) k
    CROSS JOIN LATERAL (SELECT greatest(coalesce($1, now() - interval '7 days'), k.known_from) AS since) s
    OFFSET 0
  ) i
  -- Looks into the index, each in its order.
  CROSS JOIN LATERAL (
    SELECT greatest(
      (SELECT e.id FROM ferry_internal.complete_runs e
       WHERE e.account = i.account AND e.inventory = i.inventory AND e.folders = i.folders AND e.id < i.run_since
       ORDER BY e.id DESC LIMIT 1),
      (SELECT e.id FROM ferry_internal.complete_runs e
       WHERE e.account = i.account AND e.inventory = i.inventory AND e.folders = '["0"]' AND e.id < i.run_since
       ORDER BY e.id DESC LIMIT 1),
      (SELECT e.id FROM ferry_internal.complete_runs e
       WHERE e.account = i.account AND e.inventory = i.inventory AND e.is_scheduled AND e.id < least(i.run_since, i.same_since)
       ORDER BY e.id DESC LIMIT 1), 0) AS id
  ) e
  CROSS JOIN LATERAL (
    SELECT o.*, t.old_at, t.old_until FROM (
      SELECT c.id, CASE WHEN lead(c.id) OVER w IS NULL THEN c.at ELSE greatest(c.at, i.known_from) END AS at, c.finished_at,
        lead(c.id) OVER w AS next_id, lead(c.at) OVER w AS next_at, lead(c.finished_at) OVER w AS next_finished_at
      FROM (
        SELECT r.id, least(r.started_at, r.finished_at) AS at, r.finished_at FROM ferry_internal.complete_runs r
        WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders IN (i.folders, '["0"]') AND r.id >= e.id
        UNION ALL
        SELECT r.id, least(r.started_at, r.finished_at), r.finished_at FROM ferry_internal.complete_runs r
        WHERE r.account = i.account AND r.inventory = i.inventory AND r.folders NOT IN (i.folders, '["0"]') AND r.is_scheduled
          AND r.id >= e.id AND r.id < i.same_since
      ) c
      WINDOW w AS (ORDER BY c.id)
    ) o
    -- By the target of then, and from a change of it on by the new one: a longer one may end what was late, until it has passed too.
    CROSS JOIN LATERAL (VALUES
      (CASE WHEN o.at + i.target > i.target_changed_at THEN greatest(o.at + i.target_before, o.finished_at) END, i.target_changed_at),
      (CASE WHEN o.at + i.target > i.target_changed_at THEN o.at + i.target ELSE least(o.at + i.target_before, i.target_changed_at) END, 'infinity')
    ) t (old_at, old_until)
    WHERE t.old_at < t.old_until AND least(coalesce(o.next_finished_at, now()), t.old_until) > greatest(t.old_at, i.since)
  ) g
  LEFT JOIN LATERAL (
    SELECT r.error_code FROM ferry.sync_runs r
    WHERE r.account = i.account AND r.resource = i.inventory AND r.id > g.id AND r.id < coalesce(g.next_id, r.id + 1)
      AND r.status IN ('failed', 'partial')
    ORDER BY r.id DESC LIMIT 1
  ) l ON true
  ORDER BY g.at DESC, g.old_at DESC, i.account, i.inventory
$$;

COMMENT ON FUNCTION ferry.blind_spots IS 'Times in which no complete listing was read for longer than the freshness target, latest first: account, inventory, from (the last complete listing before it, or the instant up to which runs were removed), to (the next one; null if there is none yet), lasted, late_from and fresh_again_at (between them the data was older than its freshness target), error_code (of the last run in it that failed). Since: 7 days ago by default.';
