DROP INDEX "ferry"."sync_runs_by_resource";--> statement-breakpoint
DROP INDEX "ferry"."sync_runs_complete";--> statement-breakpoint
DROP INDEX "ferry"."sync_runs_failed";--> statement-breakpoint
ALTER TABLE "ferry"."inventory_promises" ADD COLUMN "promised_since" timestamp with time zone DEFAULT clock_timestamp() NOT NULL;--> statement-breakpoint
CREATE INDEX "sync_runs_by_resource" ON "ferry"."sync_runs" USING btree ("account","resource","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "sync_runs_complete" ON "ferry"."sync_runs" USING btree ("account","resource",("scope" -> 'folders'),"id" DESC NULLS FIRST) WHERE "ferry"."sync_runs"."status" in ('succeeded', 'held');--> statement-breakpoint
CREATE INDEX "sync_runs_failed" ON "ferry"."sync_runs" USING btree ("account","resource","id" DESC NULLS FIRST) WHERE "ferry"."sync_runs"."status" in ('failed', 'partial');
--> statement-breakpoint
-- Finds the rules in two indexes alone, both in the order of ids: those it returns, where it can stop early, and how many
-- there are. A hash of all episodes would take three times as long. A rule is observed while it is enabled: since it was
-- first seen, without the times in which it was disabled.
CREATE OR REPLACE FUNCTION ferry.rules_never_fired(at_most integer DEFAULT 1000)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, first_seen timestamptz,
  days_observed double precision, updater_name text, in_all integer
) LANGUAGE sql STABLE SET jit = off SET enable_hashjoin = off SET enable_seqscan = off AS $$
  WITH silent AS NOT MATERIALIZED (
    SELECT c.id, c.account FROM ferry.alert_rule_versions c
    WHERE c.valid_to IS NULL AND c.enabled
      AND NOT EXISTS (SELECT FROM ferry.alert_rule_firings f WHERE f.id = c.id AND f.account = c.account)
  )
  SELECT v.account, v.id, v.name, v.folder_id, v.team, b.valid_from,
    (extract(epoch FROM clock_timestamp() - b.valid_from - coalesce(d.disabled, interval '0')) / 86400)::float8 AS days_observed,
    v.updater_name, (SELECT count(*)::int FROM silent)
  FROM (SELECT * FROM silent ORDER BY id, account LIMIT $1) s
  JOIN ferry.alert_rule_versions v ON v.id = s.id AND v.account = s.account AND v.valid_to IS NULL
  CROSS JOIN LATERAL (
    SELECT b.valid_from FROM ferry.alert_rule_versions b WHERE b.id = s.id AND b.account = s.account
    ORDER BY b.valid_from LIMIT 1
  ) b
  CROSS JOIN LATERAL (
    SELECT sum(o.valid_to - o.valid_from) AS disabled FROM ferry.alert_rule_versions o
    WHERE o.id = s.id AND o.account = s.account AND NOT o.enabled
  ) d
  ORDER BY days_observed DESC, v.id, v.account
$$;

COMMENT ON FUNCTION ferry.rules_never_fired IS 'The enabled alert rules that were never seen firing, the longest observed first: at most so many (1,000 by default, null for all), those with the lowest ids; in_all says how many there are. days_observed are the days since first_seen without the times in which the rule was disabled. An alert that began and ended between two polls was not seen.';
--> statement-breakpoint
-- A rule is off since its last enabled version ended, or since the rule was first seen.
CREATE OR REPLACE VIEW ferry.rules_switched_off AS
  SELECT v.account, v.id, v.name, v.folder_id, v.team, f.since, clock_timestamp() - f.since AS off_for,
    o.valid_to IS NOT NULL AS switch_seen, f.updater_id, f.updater_name
  FROM ferry.alert_rule_versions v
  LEFT JOIN LATERAL (
    SELECT o.valid_to FROM ferry.alert_rule_versions o
    WHERE o.id = v.id AND o.account = v.account AND o.valid_from < v.valid_from AND o.enabled
    ORDER BY o.valid_from DESC LIMIT 1
  ) o ON true
  LEFT JOIN LATERAL (
    -- Nothing to look up if the current version is the first one that is off.
    SELECT s.valid_from, s.updater_id, s.updater_name FROM ferry.alert_rule_versions s
    WHERE s.id = v.id AND s.account = v.account AND s.valid_from >= coalesce(o.valid_to, '-infinity')
      AND v.valid_from > coalesce(o.valid_to, '-infinity')
    ORDER BY s.valid_from LIMIT 1
  ) s ON true
  CROSS JOIN LATERAL (
    SELECT coalesce(s.valid_from, v.valid_from) AS since,
      CASE WHEN s.valid_from IS NULL THEN v.updater_id ELSE s.updater_id END AS updater_id,
      CASE WHEN s.valid_from IS NULL THEN v.updater_name ELSE s.updater_name END AS updater_name
  ) f
  WHERE v.valid_to IS NULL AND NOT v.enabled
  ORDER BY f.since DESC, v.account, v.id;

COMMENT ON VIEW ferry.rules_switched_off IS 'The current alert rules that are disabled, the youngest case first: since when, and who switched them off.';
SELECT ferry.describe_columns('ferry.rules_switched_off', 'ferry.alert_rule_versions');
COMMENT ON COLUMN ferry.rules_switched_off.since IS 'Since when it is disabled, as observed.';
COMMENT ON COLUMN ferry.rules_switched_off.off_for IS 'How long it is disabled.';
COMMENT ON COLUMN ferry.rules_switched_off.switch_seen IS 'Whether Ferry saw it being disabled. If not, it was disabled when the rule was first seen.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_id IS 'Who had updated the rule last at that moment, according to the platform.';
COMMENT ON COLUMN ferry.rules_switched_off.updater_name IS 'The name of that person.';--> statement-breakpoint
COMMENT ON COLUMN ferry.inventory_promises.promised_since IS 'Since when a worker promises to read these folders of the account. An inventory that was never read is late once the promise has passed since then.';
