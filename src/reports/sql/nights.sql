CREATE OR REPLACE FUNCTION ferry.nights(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, night date, status text, snapshot bigint, taken_at timestamptz, alert_rules_run bigint, mcp_servers_run bigint
) LANGUAGE sql STABLE AS $$
  WITH taken AS (
    SELECT s.account, s.id, s.status, s.taken_at, s.alert_rules_run, s.mcp_servers_run, s.slot, t.timezone, t.every_night, p.weekdays,
      t.night_since, (t.night_since AT TIME ZONE t.timezone)::date AS first_night, p.account IS NOT NULL AS has_target,
      -- One that was taken by hand stands for the night, which ends at the time of the schedule all the same.
      coalesce(s.slot, greatest(s.taken_at,
        ((s.taken_at AT TIME ZONE t.timezone)::date + (greatest(l.last_slot, t.night_since) AT TIME ZONE t.timezone)::time) AT TIME ZONE t.timezone)) AS at,
      (coalesce(s.slot, s.taken_at) AT TIME ZONE t.timezone)::date AS night,
      -- The interval of the nightly schedule, without its hour of grace.
      greatest(round(extract(epoch FROM t.every_night - interval '1 hour') / 86400), 1)::integer AS every
    FROM ferry.snapshots s
    LEFT JOIN ferry.freshness_targets p ON p.account = s.account AND p.resource = 'mcp-servers'
    CROSS JOIN LATERAL (
      SELECT coalesce(p.timezone, 'UTC') AS timezone, coalesce(p.night, interval '25 hours') AS every_night,
        coalesce(p.night_since, '-infinity') AS night_since
    ) t
    -- The last one before them may begin a gap, however long ago it was.
    JOIN (
      SELECT b.account, max(b.taken_at) FILTER (WHERE b.taken_at < coalesce($1, now() - interval '30 days') - interval '1 day') AS before,
        max(b.slot) AS last_slot
      FROM ferry.snapshots b GROUP BY b.account
    ) l ON l.account = s.account
    WHERE s.taken_at >= coalesce(l.before, '-infinity')
  ), found AS (
    -- Of several snapshots of a night, the one of the schedule, else the last.
    SELECT DISTINCT ON (t.account, t.night) t.* FROM taken t ORDER BY t.account, t.night, t.slot IS NULL, t.id DESC
  ), missed AS (
    SELECT f.account, b.night + n AS night, f.timezone
    FROM (
      SELECT o.*, lead(o.night) OVER (PARTITION BY o.account ORDER BY o.night) AS next_night FROM found o
    ) f
    -- When nights were due at other times, which were is not known: what is before the first that is due as now stands one interval before it.
    CROSS JOIN LATERAL (
      SELECT CASE WHEN f.night < f.first_night THEN f.first_night - f.every ELSE f.night END AS night,
        CASE WHEN f.night < f.first_night THEN f.night_since - f.every * interval '1 day' ELSE greatest(f.at, f.night_since) END AS at
    ) b
    CROSS JOIN LATERAL generate_series(1, coalesce(
      f.next_night - b.night - 1,
      -- Tonight counts as missed an hour after its time.
      floor(extract(epoch FROM now() - b.at - greatest(f.every_night - f.every * interval '1 day', interval '1 hour')) / 86400)::integer)) n
    -- An account without a freshness target has missed nothing lately.
    WHERE b.night + n >= f.first_night AND (f.next_night IS NOT NULL OR f.has_target OR f.at > now() - interval '30 days')
      AND CASE WHEN f.weekdays IS NULL THEN n % f.every = 0 ELSE extract(isodow FROM b.night + n) = ANY (f.weekdays) END
  )
  SELECT n.account, n.night, n.status, n.id, n.taken_at, n.alert_rules_run, n.mcp_servers_run
  FROM (
    SELECT f.account, f.night, f.status, f.id, f.taken_at, f.alert_rules_run, f.mcp_servers_run, f.timezone FROM found f
    UNION ALL
    SELECT m.account, m.night, 'missed', NULL, NULL, NULL, NULL, m.timezone FROM missed m
  ) n
  WHERE n.night >= (coalesce($1, now() - interval '30 days') AT TIME ZONE n.timezone)::date
  ORDER BY n.night DESC, n.account
$$;

COMMENT ON FUNCTION ferry.nights IS 'Each night since the first snapshot: account, night (the date in FERRY_TIMEZONE), status (succeeded, held, partial, or missed: no snapshot, since the nightly schedule is as it is; where the schedule is uneven, but not by days of the week, missed nights are guessed by its longest interval), snapshot (snapshots.id), taken_at, and its two runs. Since: 30 days ago by default.';
