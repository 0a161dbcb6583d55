-- Episodes of the period, and before it those that the first ones may have followed at once.
CREATE OR REPLACE FUNCTION ferry.rules_noisy(
  since timestamptz DEFAULT NULL, flap_within interval DEFAULT '10 minutes', day_begins time DEFAULT '07:00',
  day_ends time DEFAULT '22:00'
) RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, episodes integer,
  hours double precision, flaps integer, night_share double precision, last_began timestamptz, firing boolean
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH spaced AS (
    SELECT f.account, f.id, f.began, f.ended, lag(f.ended) OVER (PARTITION BY f.id, f.account ORDER BY f.began) AS ended_before
    FROM (
      SELECT e.account, e.id, e.began, e.ended FROM ferry.alert_rule_firings e
      WHERE e.ended > coalesce($1, now() - interval '7 days') - $2 AND e.ended < 'infinity'
      UNION ALL
      SELECT e.account, e.id, e.began, NULL FROM ferry.alert_rule_firings e WHERE e.ended IS NULL
    ) f
  ), episodes AS MATERIALIZED (
    SELECT * FROM spaced s WHERE s.ended IS NULL OR s.ended > coalesce($1, now() - interval '7 days')
  ), rules AS MATERIALIZED (
    SELECT r.account, r.id, v.name, v.folder_id, v.team, v.timezone
    FROM (SELECT e.account, e.id FROM episodes e GROUP BY e.id, e.account) r
    CROSS JOIN LATERAL (
      SELECT v.name, v.folder_id, v.team, v.timezone FROM ferry.alert_rule_versions v
      WHERE v.id = r.id AND v.account = r.account ORDER BY v.valid_from DESC LIMIT 1
    ) v
  ), zones AS MATERIALIZED (
    SELECT z.timezone, ferry.zone_of(z.timezone) AS zone FROM (SELECT DISTINCT r.timezone FROM rules r) z
  ), counted AS (
    SELECT e.account, e.id, count(*) AS episodes,
      sum(extract(epoch FROM coalesce(e.ended, now()) - greatest(e.began, coalesce($1, now() - interval '7 days')))) / 3600 AS hours,
      count(*) FILTER (WHERE e.began - e.ended_before <= $2) AS flaps,
      count(*) FILTER (WHERE (e.began AT TIME ZONE z.zone)::time < $3 OR (e.began AT TIME ZONE z.zone)::time >= $4) AS at_night,
      max(e.began) AS last_began, bool_or(e.ended IS NULL) AS firing
    FROM episodes e
    JOIN rules r ON r.id = e.id AND r.account = e.account
    JOIN zones z ON z.timezone IS NOT DISTINCT FROM r.timezone
    GROUP BY e.id, e.account
  )
  SELECT r.account, r.id, r.name, r.folder_id, r.team, c.episodes::int, c.hours::float8, c.flaps::int,
    c.at_night / c.episodes::float8, c.last_began, c.firing
  FROM counted c JOIN rules r ON r.id = c.id AND r.account = c.account
  ORDER BY c.episodes DESC, c.hours DESC, r.account, r.id
$$;

COMMENT ON FUNCTION ferry.rules_noisy IS 'The alert rules that fired since a time (null: seven days ago), the one with the most episodes first. hours: how long they fired in that time. flaps: episodes that began at most flap_within after the one before had ended. night_share: the share of episodes that began before day_begins or from day_ends on, in the rule''s own time zone (Asia/Shanghai if it has none).';
