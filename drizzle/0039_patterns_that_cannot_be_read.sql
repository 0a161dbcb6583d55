CREATE INDEX "alert_rule_versions_long_schedules" ON "ferry"."alert_rule_versions" USING btree ("id","account") WHERE "ferry"."alert_rule_versions"."valid_to" is null and "ferry"."alert_rule_versions"."enabled" and octet_length("ferry"."alert_rule_versions"."cron_pattern") > 400;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.cron_unread(p_pattern text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_names text[] := '{minute,hour,day,month,weekday}';
  v_from integer[] := '{0,0,1,1,0}';
  v_to integer[] := '{59,23,31,12,7}';
  v_fields text[] := regexp_split_to_array(btrim(p_pattern), '\s+');
  v_unread text[] := '{}';
BEGIN
  IF octet_length(p_pattern) > 400 THEN
    v_unread := '{more than 400 bytes}';
  ELSIF cardinality(v_fields) <> 5 THEN
    v_unread := '{not 5 fields}';
  ELSE
    FOR i IN 1 .. 5 LOOP
      -- Most fields are a star, and a look into the field takes time.
      IF v_fields[i] <> '*' AND ferry.cron_field(v_fields[i], v_from[i], v_to[i]) IS NULL THEN
        v_unread := v_unread || v_names[i];
      END IF;
    END LOOP;
  END IF;
  RETURN 'Ferry cannot read this pattern: ' || nullif(array_to_string(v_unread, ', '), '');
END $$;

COMMENT ON FUNCTION ferry.cron_unread IS 'Why ferry.cron_load leaves out rules of this cron pattern: the fields that it cannot read; null if it can read all.';
--> statement-breakpoint
-- What cron_load leaves out is looked for in the index of the schedules of enabled rules, once for each pattern.
CREATE OR REPLACE VIEW ferry.rules_contract_breaks AS
  SELECT v.account, b.reason, v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM ferry.alert_rule_versions v CROSS JOIN LATERAL unnest(v.flags) AS b (reason)
  WHERE v.valid_to IS NULL AND v.flags IS NOT NULL
  UNION ALL
  SELECT v.account, u.reason, v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM (
    SELECT s.account, s.cron_pattern, ferry.cron_unread(s.cron_pattern) AS reason
    FROM (
      SELECT DISTINCT v.account, v.cron_pattern FROM ferry.alert_rule_versions v
      WHERE v.valid_to IS NULL AND v.enabled AND octet_length(v.cron_pattern) <= 400 AND coalesce(octet_length(v.timezone), 0) <= 100
    ) s
    OFFSET 0
  ) u
  CROSS JOIN LATERAL (
    SELECT v.* FROM ferry.alert_rule_versions v
    WHERE v.account = u.account AND v.cron_pattern = u.cron_pattern
      AND v.valid_to IS NULL AND v.enabled AND octet_length(v.cron_pattern) <= 400 AND coalesce(octet_length(v.timezone), 0) <= 100
      AND NOT coalesce(v.flags && '{cron_pattern names a time zone,cron_pattern has not 5 fields}', false)
    OFFSET 0
  ) v
  WHERE u.reason IS NOT NULL
  UNION ALL
  SELECT v.account, ferry.cron_unread(v.cron_pattern), v.id, v.name, v.folder_id, v.team, v.enabled, v.cron_pattern, v.timezone, v.updater_name
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NULL AND v.enabled AND octet_length(v.cron_pattern) > 400
    AND NOT coalesce(v.flags && '{cron_pattern names a time zone,cron_pattern has not 5 fields}', false)
  ORDER BY account, reason, folder_id, name, id;

COMMENT ON VIEW ferry.rules_contract_breaks IS 'The current alert rules that break what the platform requires of cron_pattern and timezone, and the enabled ones whose cron_pattern Ferry cannot read, so that cron_load leaves them out: one row for each rule and reason.';
SELECT ferry.describe_columns('ferry.rules_contract_breaks', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_contract_breaks.reason IS 'What it breaks; or that Ferry cannot read its pattern, which may be right for the platform.';
--> statement-breakpoint
-- Rules have few distinct schedules, which an index alone counts. A schedule that is the same in every hour needs no time zone
-- but for the minutes of its offset; of the others, each local time of the week is turned into an instant.
CREATE OR REPLACE FUNCTION ferry.cron_load(week timestamptz DEFAULT NULL, worst integer DEFAULT 60, of_account text DEFAULT NULL)
RETURNS TABLE (
  account text, rank integer, minute timestamptz, evaluations integer, average double precision
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH span AS MATERIALIZED (
    SELECT date_trunc('week', coalesce($1, now()), 'UTC') AS begins, date_trunc('week', coalesce($1, now()), 'UTC') + interval '7 days' AS ends
  ), schedules AS MATERIALIZED (
    SELECT v.account, v.cron_pattern, v.timezone, count(*) AS rules FROM ferry.alert_rule_versions v
    WHERE v.valid_to IS NULL AND v.enabled AND ($3 IS NULL OR v.account = $3) AND octet_length(v.cron_pattern) <= 400 AND coalesce(octet_length(v.timezone), 0) <= 100
    GROUP BY v.account, v.cron_pattern, v.timezone
  ), zones AS MATERIALIZED (
    SELECT z.timezone, ferry.zone_of(z.timezone) AS zone FROM (SELECT DISTINCT s.timezone FROM schedules s) z
  ), patterns AS MATERIALIZED (
    SELECT p.cron_pattern, ferry.cron_field(p.fields[1], 0, 59) AS minutes, ferry.cron_field(p.fields[2], 0, 23) AS hours,
      ferry.cron_field(p.fields[3], 1, 31) AS days, ferry.cron_field(p.fields[4], 1, 12) AS months,
      ferry.cron_field(p.fields[5], 0, 7) AS weekdays,
      -- A day matches if either the day of the month or the weekday does, if both are restricted.
      p.fields[3] ~ '^[*?]' AS is_any_day, p.fields[5] ~ '^[*?]' AS is_any_weekday
    FROM (
      SELECT c.cron_pattern, regexp_split_to_array(btrim(c.cron_pattern), '\s+') AS fields
      FROM (SELECT DISTINCT s.cron_pattern FROM schedules s) c
    ) p
    WHERE cardinality(p.fields) = 5
  ), known AS MATERIALIZED (
    SELECT s.account, z.zone, p.minutes, p.hours, p.days, p.months, p.weekdays, p.is_any_day, p.is_any_weekday, sum(s.rules) AS rules,
      extract(minute FROM w.begins AT TIME ZONE z.zone)::int AS shift,
      cardinality(p.hours) = 24 AND cardinality(p.days) = 31 AND cardinality(p.months) = 12 AND cardinality(p.weekdays) = 7
        AND extract(minute FROM w.begins AT TIME ZONE z.zone) = extract(minute FROM w.ends AT TIME ZONE z.zone) AS is_hourly
    FROM span w CROSS JOIN schedules s
    JOIN zones z ON z.timezone IS NOT DISTINCT FROM s.timezone
    JOIN patterns p ON p.cron_pattern = s.cron_pattern
    WHERE p.minutes IS NOT NULL AND p.hours IS NOT NULL AND p.days IS NOT NULL AND p.months IS NOT NULL AND p.weekdays IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12
  ), hourly AS MATERIALIZED (
    SELECT k.account, (m + 60 - k.shift) % 60 AS minute, sum(k.rules) AS rules
    FROM known k CROSS JOIN LATERAL unnest(k.minutes) AS m WHERE k.is_hourly GROUP BY 1, 2
  ), dated AS MATERIALIZED (
    SELECT k.account, (d.day + make_interval(hours => h, mins => m)) AT TIME ZONE k.zone AS minute, sum(k.rules) AS rules
    FROM span w CROSS JOIN known k
    CROSS JOIN LATERAL generate_series(
      date_trunc('day', w.begins AT TIME ZONE k.zone), date_trunc('day', w.ends AT TIME ZONE k.zone), interval '1 day') AS d (day)
    CROSS JOIN LATERAL unnest(k.hours) AS h CROSS JOIN LATERAL unnest(k.minutes) AS m
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

COMMENT ON FUNCTION ferry.cron_load IS 'How many evaluations the enabled alert rules cause in each minute of a week (from Monday 00:00 UTC; null: this week), by cron_pattern and timezone, the worst minutes first: 60 of each account by default, null for all 10,080; of one account if it is named. average: evaluations of a minute, over the whole week. A pattern that cannot be read, or is longer than 400 bytes, is left out; rules_contract_breaks lists these rules.';
