-- The episode before the first one of the period is looked up if it can be near enough. Names and nights are looked up only for the
-- rules that are returned.
CREATE OR REPLACE FUNCTION ferry.rules_noisy(
  since timestamptz DEFAULT NULL, flap_within interval DEFAULT '10 minutes', day_begins time DEFAULT '07:00',
  day_ends time DEFAULT '22:00', at_most integer DEFAULT NULL, of_account text DEFAULT NULL
) RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, episodes integer,
  hours double precision, flaps integer, night_share double precision, last_began timestamptz, firing boolean, in_all integer
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH known AS MATERIALIZED (
    -- Once for each: what is inlined is looked up as often as it is named.
    SELECT e.account, e.id, e.began, e.ended, e.began_seen, lag(e.ended) OVER (PARTITION BY e.id, e.account ORDER BY e.began) AS ended_before
    FROM ferry_internal.episodes(coalesce($1, now() - interval '7 days')) e
    WHERE $6 IS NULL OR e.account = $6
  ), counted AS (
    SELECT e.account, e.id, count(*) FILTER (WHERE e.began_seen) AS episodes,
      -- A clock that was set back must not make it negative.
      sum(greatest(coalesce(e.ended, now()) - greatest(e.began, coalesce($1, now() - interval '7 days')), interval '0')) AS fired_for,
      count(*) FILTER (WHERE e.began_seen AND e.began - coalesce(e.ended_before, b.ended) <= $2) AS flaps,
      array_agg(e.began) FILTER (WHERE e.began_seen) AS begins, max(e.began) FILTER (WHERE e.began_seen) AS last_began,
      bool_or(e.ended IS NULL) AS firing, count(*) OVER () AS in_all
    FROM known e
    LEFT JOIN LATERAL (
      SELECT p.ended FROM ferry.alert_rule_firings p
      WHERE p.id = e.id AND p.account = e.account AND p.began < e.began
        -- As a condition of the join, it would be asked after the look.
        AND e.ended_before IS NULL AND e.began - $2 <= coalesce($1, now() - interval '7 days')
      ORDER BY p.began DESC LIMIT 1
    ) b ON true
    GROUP BY e.id, e.account
    HAVING bool_or(e.began_seen)
    ORDER BY episodes DESC, fired_for DESC, e.account, e.id LIMIT $5
  ), rules AS MATERIALIZED (
    SELECT c.*, v.name, v.folder_id, v.team, coalesce(v.timezone, '') AS timezone
    FROM counted c
    CROSS JOIN LATERAL (
      SELECT v.name, v.folder_id, v.team, v.timezone FROM ferry.alert_rule_versions v
      WHERE v.id = c.id AND v.account = c.account ORDER BY v.valid_from DESC LIMIT 1
    ) v
  ), zones AS MATERIALIZED (
    SELECT z.timezone, ferry_internal.zone_of(z.timezone) AS zone FROM (SELECT DISTINCT r.timezone FROM rules r) z
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

COMMENT ON FUNCTION ferry.rules_noisy IS 'The alert rules that fired since a time (null: seven days ago), most episodes first: at most this many (null: all), of one account if it is named; in_all says how many there are. An episode that was not seen to begin (a first reading found the rule firing, it appeared so, or its versions of then were removed for their age) counts only in hours, and a rule with no other is left out. hours: how long they fired in that time. flaps: episodes that began at most flap_within after the one before had ended. night_share: the share of episodes that began before day_begins or from day_ends on, in the rule''s own time zone (Asia/Shanghai if it has none).';
