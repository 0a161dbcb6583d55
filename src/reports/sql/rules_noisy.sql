-- Episodes of the period, and before it those that the first ones may have followed at once. Names and nights are looked up
-- only for the rules that are returned.
CREATE OR REPLACE FUNCTION ferry.rules_noisy(
  since timestamptz DEFAULT NULL, flap_within interval DEFAULT '10 minutes', day_begins time DEFAULT '07:00',
  day_ends time DEFAULT '22:00', at_most integer DEFAULT NULL, of_account text DEFAULT NULL
) RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, episodes integer,
  hours double precision, flaps integer, night_share double precision, last_began timestamptz, firing boolean, in_all integer
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH episodes AS (
    SELECT f.account, f.id, f.began, f.ended, lag(f.ended) OVER (PARTITION BY f.id, f.account ORDER BY f.began) AS ended_before
    FROM (
      SELECT e.account, e.id, e.began, e.ended FROM ferry.alert_rule_firings e
      WHERE e.ended > coalesce($1, now() - interval '7 days') - $2 AND e.ended < 'infinity' AND ($6 IS NULL OR e.account = $6)
      UNION ALL
      SELECT e.account, e.id, e.began, NULL FROM ferry.alert_rule_firings e
      WHERE e.ended IS NULL AND ($6 IS NULL OR e.account = $6)
    ) f
  ), counted AS (
    SELECT e.account, e.id, count(*) AS episodes,
      -- A clock that was set back must not make it negative.
      sum(greatest(coalesce(e.ended, now()) - greatest(e.began, coalesce($1, now() - interval '7 days')), interval '0')) AS fired_for,
      count(*) FILTER (WHERE e.began - e.ended_before <= $2) AS flaps, array_agg(e.began) AS begins,
      max(e.began) AS last_began, bool_or(e.ended IS NULL) AS firing, count(*) OVER () AS in_all
    FROM episodes e
    WHERE e.ended IS NULL OR e.ended > coalesce($1, now() - interval '7 days')
    GROUP BY e.id, e.account
    ORDER BY episodes DESC, fired_for DESC, e.account, e.id LIMIT $5
  ), rules AS MATERIALIZED (
    SELECT c.*, v.name, v.folder_id, v.team, coalesce(v.timezone, '') AS timezone
    FROM counted c
    CROSS JOIN LATERAL (
      SELECT v.name, v.folder_id, v.team, v.timezone FROM ferry.alert_rule_versions v
      WHERE v.id = c.id AND v.account = c.account ORDER BY v.valid_from DESC LIMIT 1
    ) v
  ), zones AS MATERIALIZED (
    SELECT z.timezone, ferry.zone_of(z.timezone) AS zone FROM (SELECT DISTINCT r.timezone FROM rules r) z
  )
  SELECT r.account, r.id, r.name, r.folder_id, r.team, r.episodes::int, (extract(epoch FROM r.fired_for) / 3600)::float8, r.flaps::int,
    n.at_night / r.episodes::float8, r.last_began, r.firing, r.in_all::int
  FROM rules r
  JOIN zones z USING (timezone)
  CROSS JOIN LATERAL (
    SELECT count(*) AS at_night FROM unnest(r.begins) AS began
    WHERE (began AT TIME ZONE z.zone)::time < $3 OR (began AT TIME ZONE z.zone)::time >= $4
  ) n
  ORDER BY r.episodes DESC, r.fired_for DESC, r.account, r.id
$$;

COMMENT ON FUNCTION ferry.rules_noisy IS 'The alert rules that fired since a time (null: seven days ago), the one with the most episodes first: at most so many (null: all), of one account if it is named; in_all says how many there are. hours: how long they fired in that time. flaps: episodes that began at most flap_within after the one before had ended. night_share: the share of episodes that began before day_begins or from day_ends on, in the rule''s own time zone (Asia/Shanghai if it has none).';
