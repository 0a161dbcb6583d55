-- Rules have few distinct schedules; the costs are those of alert_rules_of_night. A schedule that is the same in every hour needs no time zone
-- but for the minutes of its offset; of the others, each local time of the week is turned into an instant. Where clocks are
-- changed, it is as in cron-parser: a schedule of every hour is due in each hour that there is. Another one is due an hour later if
-- its hour is left out, and once in an hour that comes twice: in the first one. A rule is evaluated delay_seconds after it is due:
-- what is evaluated in a week was due in a week that is earlier by the whole minutes of the delay, and the seconds stay in the minute.
CREATE OR REPLACE FUNCTION ferry.cron_load(week timestamptz DEFAULT NULL, worst integer DEFAULT 60, of_account text DEFAULT NULL)
RETURNS TABLE (
  account text, rank integer, minute timestamptz, evaluations integer, average double precision
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 AS $$
  WITH span AS MATERIALIZED (
    SELECT date_trunc('week', coalesce($1, now()), 'UTC') AS begins, date_trunc('week', coalesce($1, now()), 'UTC') + interval '7 days' AS ends
  ), schedules AS MATERIALIZED (
    SELECT s.account, s.cron_pattern, s.timezone,
      make_interval(mins => floor(greatest(least(s.delay_seconds, 31536000), -31536000) / 60.0)::int) AS delay, s.rules
    FROM (
      SELECT v.account, v.cron_pattern, v.timezone, v.delay_seconds, count(*) AS rules FROM ferry.alert_rule_versions v
      WHERE v.valid_to IS NULL AND v.enabled AND ($3 IS NULL OR v.account = $3)
        AND octet_length(v.cron_pattern) <= 400 AND coalesce(octet_length(v.timezone), 0) <= 100
      -- By what Postgres has statistics of: it expects few groups and need not sort.
      GROUP BY v.account, v.cron_pattern, v.timezone, v.delay_seconds
    ) s
  ), zones AS MATERIALIZED (
    SELECT o.*, o.earlier <> o.later AS has_change, o.earlier - o.later AS set_back
    FROM (
      SELECT z.timezone, z.zone, d.delay, w.begins - d.delay AS begins, w.ends - d.delay AS ends
      FROM span w
      CROSS JOIN (
        SELECT z.timezone, ferry_internal.zone_of(z.timezone) AS zone FROM (SELECT DISTINCT s.timezone FROM schedules s) z
      ) z
      CROSS JOIN (SELECT DISTINCT s.delay FROM schedules s) d
    ) z
    CROSS JOIN LATERAL (
      SELECT z.*, (z.begins - interval '1 day') AT TIME ZONE z.zone - (z.begins - interval '1 day') AT TIME ZONE 'UTC' AS earlier,
        (z.ends + interval '1 day') AT TIME ZONE z.zone - (z.ends + interval '1 day') AT TIME ZONE 'UTC' AS later
    ) o
  ), patterns AS MATERIALIZED (
    SELECT p.cron_pattern, ferry_internal.cron_field(p.fields[1], 0, 59) AS minutes, ferry_internal.cron_field(p.fields[2], 0, 23) AS hours,
      ferry_internal.cron_field(p.fields[3], 1, 31) AS days, ferry_internal.cron_field(p.fields[4], 1, 12) AS months,
      ferry_internal.cron_field(p.fields[5], 0, 7) AS weekdays,
      -- A day matches if either the day of the month or the weekday does, if both are restricted.
      p.fields[3] IN ('*', '?') AS is_any_day, p.fields[5] IN ('*', '?') AS is_any_weekday
    FROM (
      SELECT c.cron_pattern, regexp_split_to_array(btrim(c.cron_pattern), '\s+') AS fields
      FROM (SELECT DISTINCT s.cron_pattern FROM schedules s) c
    ) p
    WHERE cardinality(p.fields) = 5
  ), known AS MATERIALIZED (
    SELECT s.account, z.zone, p.minutes, p.hours, p.days, p.months, p.weekdays, p.is_any_day, p.is_any_weekday, z.has_change, z.set_back, z.delay, z.begins, z.ends, sum(s.rules) AS rules,
      extract(minute FROM z.begins AT TIME ZONE z.zone)::int AS shift,
      cardinality(p.hours) = 24 AND cardinality(p.days) = 31 AND cardinality(p.months) = 12 AND cardinality(p.weekdays) = 7
        AND extract(minute FROM z.begins AT TIME ZONE z.zone) = extract(minute FROM z.ends AT TIME ZONE z.zone) AS is_hourly
    FROM schedules s
    JOIN zones z ON z.timezone IS NOT DISTINCT FROM s.timezone AND z.delay = s.delay
    JOIN patterns p ON p.cron_pattern = s.cron_pattern
    WHERE p.minutes IS NOT NULL AND p.hours IS NOT NULL AND p.days IS NOT NULL AND p.months IS NOT NULL AND p.weekdays IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17
  ), hourly AS MATERIALIZED (
    SELECT k.account, (m + 60 - k.shift) % 60 AS minute, sum(k.rules) AS rules
    FROM known k CROSS JOIN LATERAL unnest(k.minutes) AS m WHERE k.is_hourly GROUP BY 1, 2
  ), dated AS MATERIALIZED (
    SELECT k.account, i.minute + k.delay AS minute, sum(k.rules) AS rules
    FROM known k
    CROSS JOIN LATERAL generate_series(
      date_trunc('day', k.begins AT TIME ZONE k.zone), date_trunc('day', k.ends AT TIME ZONE k.zone), interval '1 day') AS d (day)
    CROSS JOIN LATERAL unnest(k.hours) AS h CROSS JOIN LATERAL unnest(k.minutes) AS m
    CROSS JOIN LATERAL (SELECT d.day + make_interval(hours => h, mins => m) AS local) l
    CROSS JOIN LATERAL (SELECT l.local AT TIME ZONE k.zone AS at, (l.local AT TIME ZONE k.zone) AT TIME ZONE k.zone AS real) a
    CROSS JOIN LATERAL unnest(CASE
      WHEN NOT k.has_change THEN ARRAY[a.at]
      WHEN a.real <> l.local THEN CASE
        WHEN cardinality(k.hours) = 24 OR extract(hour FROM a.real) = ANY (k.hours) AND extract(minute FROM a.real) = ANY (k.minutes)
        THEN '{}' ELSE ARRAY[a.at] END
      -- Of a local time that comes twice, Postgres takes the second.
      WHEN k.set_back > interval '0' AND (a.at - k.set_back) AT TIME ZONE k.zone = l.local THEN CASE
        WHEN cardinality(k.hours) = 24 THEN ARRAY[a.at - k.set_back, a.at] ELSE ARRAY[a.at - k.set_back] END
      ELSE ARRAY[a.at] END) AS i (minute)
    WHERE NOT k.is_hourly AND extract(month FROM d.day) = ANY (k.months)
      AND CASE WHEN k.is_any_day OR k.is_any_weekday
        THEN extract(day FROM d.day) = ANY (k.days) AND extract(dow FROM d.day) = ANY (k.weekdays)
        ELSE extract(day FROM d.day) = ANY (k.days) OR extract(dow FROM d.day) = ANY (k.weekdays) END
    GROUP BY 1, 2
  ), totals AS (
    SELECT a.account, m.minute, coalesce(o.rules, 0) + coalesce(d.rules, 0) AS evaluations
    FROM span w
    CROSS JOIN LATERAL generate_series(w.begins, w.ends - interval '1 minute', interval '1 minute') AS m (minute)
    CROSS JOIN (SELECT DISTINCT k.account FROM known k) a
    LEFT JOIN hourly o ON o.account = a.account AND o.minute = extract(minute FROM m.minute AT TIME ZONE 'UTC')::int
    LEFT JOIN dated d ON d.account = a.account AND d.minute = m.minute
  ), ranked AS (
    SELECT t.account, t.minute, t.evaluations, row_number() OVER (PARTITION BY t.account ORDER BY t.evaluations DESC, t.minute) AS rank,
      avg(t.evaluations) OVER (PARTITION BY t.account) AS average
    FROM totals t
  )
  SELECT r.account, r.rank::int, r.minute, r.evaluations::int, r.average::float8
  FROM ranked r WHERE r.rank <= coalesce($2, 10080)
  ORDER BY r.account, r.rank
$$;

COMMENT ON FUNCTION ferry.cron_load IS 'How many evaluations the enabled alert rules cause in each minute of a week (from Monday 00:00 UTC; null: this week), by cron_pattern, timezone and delay_seconds, the worst minutes first: 60 of each account by default, null for all 10,080; of one account if it is named. average: evaluations of a minute, over the whole week. A pattern that cannot be read, or is longer than 400 bytes, is left out; rules_contract_breaks lists these rules.';
