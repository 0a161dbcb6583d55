ALTER TABLE "ferry"."workers" ADD COLUMN "accounts" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
COMMENT ON COLUMN ferry.workers.accounts IS 'The accounts of its settings. Empty if that is not known.';--> statement-breakpoint
ALTER TABLE "ferry"."removal_holds" ADD COLUMN "since_runs" bigint[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
COMMENT ON COLUMN ferry.removal_holds.since_runs IS 'For each of the ids, in their order, the run since which its removal has been held without a break. Of another length if that is not known.';--> statement-breakpoint
ALTER TABLE "ferry"."inventory_promises" ADD COLUMN "weekdays" integer[];--> statement-breakpoint
COMMENT ON COLUMN ferry.inventory_promises.weekdays IS 'The days of the week of the schedule, from 1 (Monday) to 7 (Sunday). Null if it is not due by days of the week alone.';--> statement-breakpoint
CREATE INDEX "alert_rule_versions_long_schedules" ON "ferry"."alert_rule_versions" USING btree ("id","account") WHERE "ferry"."alert_rule_versions"."valid_to" is null and "ferry"."alert_rule_versions"."enabled" and octet_length("ferry"."alert_rule_versions"."cron_pattern") > 400;--> statement-breakpoint
-- What a night's report needs of a version stands in the indexes.
DROP INDEX "ferry"."alert_rule_versions_current", "ferry"."alert_rule_versions_by_end", "ferry"."alert_rule_firings_by_end";--> statement-breakpoint
CREATE UNIQUE INDEX "alert_rule_versions_current" ON "ferry"."alert_rule_versions" USING btree ("id","account") INCLUDE ("fingerprint","folder_id","enabled","debug_log_enabled","team","valid_from") WHERE "ferry"."alert_rule_versions"."valid_to" is null;--> statement-breakpoint
CREATE INDEX "alert_rule_versions_by_end" ON "ferry"."alert_rule_versions" USING btree ("valid_to","valid_from") INCLUDE ("id","account") WHERE "ferry"."alert_rule_versions"."valid_to" is not null;--> statement-breakpoint
CREATE INDEX "alert_rule_firings_by_end" ON "ferry"."alert_rule_firings" USING btree ("ended","began") WHERE "ferry"."alert_rule_firings"."ended" is not null;
--> statement-breakpoint
DROP FUNCTION ferry.finish_call(bigint,boolean,integer,text,text,boolean,double precision,integer[]), ferry.rules_noisy(timestamp with time zone,interval,time without time zone,time without time zone);
--> statement-breakpoint
-- Records the end of a call. `finished` is the moment when an answer of the platform came: p_answered_ms_ago, by the clock
-- of the worker, before it is told here, so never too early. No answer, or a gateway's in its place, proves nothing: the
-- call then counts until counted_by.
--
-- p_is_over_limit: the platform refused the call because of its limit. That moves blocked_until forward, never back, for
-- every worker: by the back-off of the strike (the last one, from that strike on), or by p_retry_after_ms if that is
-- longer. Answers to calls sent before the block are one strike with it. Any other answer ends the strikes.
CREATE OR REPLACE FUNCTION ferry.finish_call(
  p_call_id bigint, p_answered_ms_ago double precision, p_http_status int, p_error_code text, p_request_id text,
  p_is_over_limit boolean, p_retry_after_ms double precision, p_back_off_ms int[]
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_call ferry.platform_calls;
  v_limit ferry.platform_limits;
  v_strikes int;
BEGIN
  UPDATE ferry.platform_calls SET
      finished = CASE WHEN p_answered_ms_ago IS NOT NULL THEN
        greatest(started, clock_timestamp() - interval '1 ms' * p_answered_ms_ago) END,
      http_status = p_http_status, error_code = p_error_code, request_id = p_request_id
    WHERE id = p_call_id RETURNING * INTO v_call;
  IF p_is_over_limit THEN
    SELECT * INTO v_limit FROM ferry.platform_limits l
      WHERE l.limit_key = v_call.limit_key AND l.operation = v_call.operation FOR UPDATE;
    v_strikes := v_limit.strikes + coalesce(v_call.started > v_limit.blocked_until, true)::int;
    UPDATE ferry.platform_limits l SET
        strikes = v_strikes,
        blocked_by = p_call_id,
        blocked_until = greatest(l.blocked_until, clock_timestamp() + interval '1 ms' * greatest(
          p_retry_after_ms, p_back_off_ms[least(greatest(v_strikes, 1), cardinality(p_back_off_ms))]))
      WHERE l.limit_key = v_call.limit_key AND l.operation = v_call.operation;
  ELSIF p_answered_ms_ago IS NOT NULL THEN
    UPDATE ferry.platform_limits SET strikes = 0
      WHERE limit_key = v_call.limit_key AND operation = v_call.operation AND strikes > 0
        AND v_call.started > blocked_until;
  END IF;
END $$;

COMMENT ON FUNCTION ferry.finish_call IS 'Records the end of a call. For Ferry itself.';
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
-- A batch that a person says was sent has no answer, or the error of the last one: the platform accepted nothing.
CREATE OR REPLACE FUNCTION ferry.import_throughput(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, calls integer, rows integer, allowed integer, share double precision
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' SET enable_seqscan = off SET jit = off AS $$
  SELECT date_trunc('minute', c.started), c.account, count(*)::integer,
    coalesce(sum(b.rows) FILTER (
      WHERE b.state = 'sent' AND b.call_id = c.id AND b.http_status IS NOT NULL AND b.error_code IS NULL), 0)::integer,
    max(l.calls_per_minute), count(*)::double precision / max(l.calls_per_minute)
  FROM ferry.platform_limits l
  JOIN ferry.platform_calls c ON c.limit_key = l.limit_key AND c.operation = l.operation
  LEFT JOIN ferry.import_batches b ON b.id = c.batch_id
  WHERE l.operation = 'import-subscribers'
    AND c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY date_trunc('minute', c.started), c.account
  ORDER BY date_trunc('minute', c.started) DESC, c.account
$$;

COMMENT ON FUNCTION ferry.import_throughput IS 'How fast imports are sent, minute by minute, the latest first: minute, account, calls, rows that the platform accepted with them, allowed (calls in a minute, by the settings of the last worker; accounts of one limitGroup share them), and share of them. Minutes without a call have no row. Since: one day ago by default.';
--> statement-breakpoint
-- Verbs are words of a tool's name: delete_branch, deleteBranch and branch-delete, but not undeleted; the first one counts. They
-- are looked up once for each name. Invisible characters are those that show nothing, or turn the direction of text: they can
-- hide instructions for a model from people.
CREATE OR REPLACE VIEW ferry.mcp_risk AS
  WITH servers AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY s.account, s.server_name, s.server_id) AS place,
      s.account, s.server_id, s.server_name, s.team_id, s.description, s.url, s.status, s.auth_mode, s.tools
    FROM ferry.mcp_server_versions s WHERE s.valid_to IS NULL
  ), tools AS MATERIALIZED (
    SELECT s.place, t.tool ->> 'name' AS name, t.tool ->> 'description' AS description
    FROM servers s
    CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END) AS t (tool)
    -- Postgres expects 100 elements of any array: without this it would compile the whole (JIT), which takes a second.
    WHERE jsonb_typeof(t.tool) = 'object'
  ), verbs (verb, deletes) AS (
    SELECT unnest('{delete,remove,drop,destroy,purge,truncate,kill,terminate,revoke}'::text[]), true
    UNION ALL
    SELECT unnest('{create,add,insert,update,upsert,write,set,put,post,patch,edit,modify,rename,move,send,publish,execute,exec,deploy,apply,merge,push,upload,restart,scale,rollback,enable,disable,grant,close,cancel}'::text[]), false
  ), named AS MATERIALIZED (
    SELECT DISTINCT ON (n.name) n.name, v.verb, v.deletes
    FROM (SELECT DISTINCT name FROM tools) n
    CROSS JOIN LATERAL regexp_split_to_table(lower(regexp_replace(n.name, '([a-z0-9])([A-Z])', '\1_\2', 'g')), '[^a-z]+')
      WITH ORDINALITY AS w (word, nth)
    JOIN verbs v ON v.verb = w.word
    ORDER BY n.name, w.nth
  ), found AS (
    SELECT place, 'no https' AS reason, NULL AS tool, url AS detail FROM servers WHERE url <> '' AND url !~* '^https://'
    UNION ALL
    SELECT place, 'shared credentials', NULL, 'auth_mode ' || auth_mode FROM servers WHERE auth_mode = 'shared'
    UNION ALL
    SELECT place, 'disabled but listed', NULL, 'status ' || status FROM servers WHERE status = 'disabled'
    UNION ALL
    SELECT s.place, 'name used twice', NULL, n.servers || ' servers'
    FROM servers s
    JOIN (SELECT account, server_name, count(*) AS servers FROM servers GROUP BY account, server_name HAVING count(*) > 1) n USING (account, server_name)
    UNION ALL
    SELECT place, 'tool name used twice', name, n.tools || ' tools'
    FROM tools
    JOIN (SELECT place, name, count(*) AS tools FROM tools GROUP BY place, name HAVING count(*) > 1) n USING (place, name)
    UNION ALL
    SELECT place, CASE WHEN v.deletes THEN 'tool deletes' ELSE 'tool writes' END, name, v.verb
    FROM tools JOIN named v USING (name)
    UNION ALL
    SELECT place, 'invisible characters', tool, 'U+' || upper(lpad(hex, greatest(4, length(hex)), '0'))
    FROM (
      SELECT place, NULL AS tool, server_name AS name, description FROM servers
      UNION ALL
      SELECT place, name, name, description FROM tools
    ) texts
    CROSS JOIN LATERAL (
      -- Most texts are ASCII: their length in bytes says so much faster.
      SELECT CASE WHEN octet_length(name) <> length(name) OR octet_length(description) <> length(description) THEN
        substring(concat_ws(' ', name, description) FROM
          '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF9-\uFFFB\U000E0000-\U000E0FFF]'
        ) END AS hidden
    ) h
    CROSS JOIN LATERAL (SELECT to_hex(ascii(hidden)) AS hex) x
    WHERE hidden IS NOT NULL
  )
  SELECT s.account, s.server_id, s.server_name, s.team_id, f.reason, f.tool, f.detail
  FROM found f JOIN servers s USING (place)
  ORDER BY f.place, f.reason, f.tool;

COMMENT ON VIEW ferry.mcp_risk IS 'What could be a risk in the current MCP servers: one row for each server, reason and tool.';
SELECT ferry.describe_columns('ferry.mcp_risk', 'ferry.mcp_server_versions');
COMMENT ON COLUMN ferry.mcp_risk.reason IS 'no https; shared credentials; disabled but listed; name used twice (by servers of the account); tool name used twice (in one server); tool writes or tool deletes (by a verb in its name); invisible characters (in a name or description, such as zero-width or bidirectional ones).';
COMMENT ON COLUMN ferry.mcp_risk.tool IS 'The tool, if the reason is about one.';
COMMENT ON COLUMN ferry.mcp_risk.detail IS 'What was found: the address, the verb, the character.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.nights(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, night date, status text, snapshot bigint, taken_at timestamptz, alert_rules_run bigint, mcp_servers_run bigint
) LANGUAGE sql STABLE AS $$
  WITH taken AS (
    SELECT s.account, s.id, s.status, s.taken_at, s.alert_rules_run, s.mcp_servers_run, s.slot, t.timezone, t.promise, p.weekdays,
      p.account IS NOT NULL AS is_promised,
      coalesce(s.slot, s.taken_at) AS at, (coalesce(s.slot, s.taken_at) AT TIME ZONE t.timezone)::date AS night,
      -- The interval of the nightly schedule: the promise without its hour.
      greatest(round(extract(epoch FROM t.promise - interval '1 hour') / 86400), 1)::integer AS every
    FROM ferry.snapshots s
    LEFT JOIN ferry.inventory_promises p ON p.account = s.account AND p.resource = 'mcp-servers'
    CROSS JOIN LATERAL (
      SELECT coalesce(p.timezone, 'UTC') AS timezone, coalesce(p.promise, interval '25 hours') AS promise
    ) t
    -- The last one before them may begin a gap, however long ago it was.
    JOIN (
      SELECT b.account, max(b.taken_at) FILTER (WHERE b.taken_at < coalesce($1, now() - interval '30 days') - interval '1 day') AS before
      FROM ferry.snapshots b GROUP BY b.account
    ) l ON l.account = s.account
    WHERE s.taken_at >= coalesce(l.before, '-infinity')
  ), found AS (
    -- Of several snapshots of a night, the one of the schedule, else the last.
    SELECT DISTINCT ON (t.account, t.night) t.* FROM taken t ORDER BY t.account, t.night, t.slot IS NULL, t.id DESC
  ), missed AS (
    SELECT f.account, f.night + n AS night, f.timezone
    FROM (
      SELECT o.*, lead(o.night) OVER (PARTITION BY o.account ORDER BY o.night) AS next_night FROM found o
    ) f
    CROSS JOIN LATERAL generate_series(CASE WHEN f.weekdays IS NULL THEN f.every ELSE 1 END, coalesce(
      f.next_night - f.night - 1,
      -- Tonight counts as missed an hour after its time.
      floor(extract(epoch FROM now() - f.at - (greatest(f.promise - f.every * interval '1 day', interval '1 hour'))) / 86400)::integer), CASE WHEN f.weekdays IS NULL THEN f.every ELSE 1 END) n
    -- An account that nobody promises any more has missed nothing lately.
    WHERE (f.next_night IS NOT NULL OR f.is_promised OR f.at > now() - interval '30 days')
      AND (f.weekdays IS NULL OR extract(isodow FROM f.night + n) = ANY (f.weekdays))
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

COMMENT ON FUNCTION ferry.nights IS 'Each night since the first snapshot: account, night (the date in FERRY_TIMEZONE), status (succeeded, held, partial, or missed: no snapshot; where the schedule is uneven, but not by days of the week, missed nights are guessed by its longest interval), snapshot (snapshots.id), taken_at, and its two runs. Since: 30 days ago by default.';
--> statement-breakpoint
-- STABLE, so that in WHERE it is asked once, before any row is read and also if there are none; and so that it judges what
-- the query sees, not what was written since.
CREATE OR REPLACE FUNCTION ferry.require_fresh(inventory text, max_age interval, account text DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
#variable_conflict use_column
DECLARE
  v_oldest record;
BEGIN
  IF $1 IS NULL OR $1 NOT IN ('alert-rules', 'mcp-servers') THEN
    RAISE EXCEPTION 'There is no inventory %; there are alert-rules and mcp-servers.', coalesce(quote_literal($1), 'null')
      USING ERRCODE = 'invalid_parameter_value';
  ELSIF $2 IS NULL OR $2 < interval '0' THEN
    RAISE EXCEPTION 'require_fresh needs to know how old the data may be, such as ''5 minutes''.'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT f.account, f.last_complete_at, f.age INTO v_oldest FROM ferry.freshness f
    WHERE f.inventory = $1 AND f.account = coalesce($3, f.account)
    ORDER BY f.age < interval '0' DESC NULLS FIRST, f.age DESC LIMIT 1;
  IF NOT FOUND OR v_oldest.age IS NULL THEN
    RAISE EXCEPTION 'The % of % were never read completely.', $1,
      coalesce('account ' || quote_literal(coalesce(v_oldest.account, $3)), 'every account')
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = '`ferry freshness` says why.';
  ELSIF v_oldest.age < interval '0' THEN
    RAISE EXCEPTION 'The % of account % were last read completely at %, which is % in the future: the clock was set back.', $1,
      quote_literal(v_oldest.account), date_trunc('second', v_oldest.last_complete_at),
      date_trunc('second', -v_oldest.age)
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'The next complete run ends this.';
  ELSIF v_oldest.age > $2 THEN
    RAISE EXCEPTION 'The % of account % are too old: they were last read completely at % (% ago), and may be % old.', $1,
      quote_literal(v_oldest.account), date_trunc('second', v_oldest.last_complete_at),
      date_trunc('second', v_oldest.age), $2
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = '`ferry freshness` says why.';
  END IF;
  RETURN true;
END $$;

COMMENT ON FUNCTION ferry.require_fresh IS 'Returns true if the last complete listing of the inventory (alert-rules or mcp-servers) is not older than max_age, for one account or, without one, for each. Else it raises an error that says how old it is. Use it in WHERE: there it is asked once, before any row is read.';
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
CREATE OR REPLACE FUNCTION ferry.snapshots_of_night(night date)
RETURNS TABLE (account text, taken_at timestamptz) LANGUAGE sql STABLE AS $$
  WITH taken AS MATERIALIZED (
    SELECT n.account, n.taken_at FROM ferry.nights($1 - 1) n WHERE n.night = $1 AND n.taken_at IS NOT NULL
  )
  -- A night of which there is no snapshot may be one whose snapshots were removed.
  SELECT t.account, t.taken_at FROM (
    SELECT coalesce((SELECT min(t.taken_at) FROM taken t), $1::timestamptz) AS first OFFSET 0
  ) f
  LEFT JOIN taken t ON true
  WHERE ferry.expect_history(f.first) AND t.account IS NOT NULL
$$;

COMMENT ON FUNCTION ferry.snapshots_of_night IS 'The snapshot of a night of each account that has one, see ferry.nights. Raises an error if the history starts later.';
--> statement-breakpoint
-- The rules of that night that are still as they were, in the index of current rules, and those that ended since then, in the
-- index by end. Postgres cannot know the night, and takes a third of all versions to have ended since then, anywhere in the
-- table: whoever asks sets random_page_cost to what it is in a cache, else it reads all versions.
CREATE OR REPLACE FUNCTION ferry.alert_rules_of_night(night date)
RETURNS TABLE (
  account text, id numeric(20, 0), folder_id numeric(20, 0), name text, labels jsonb, team text, enabled boolean,
  debug_log_enabled boolean, triggered boolean, creator_name text, updater_name text
) LANGUAGE sql STABLE AS $$
  WITH taken AS MATERIALIZED (
    SELECT s.account, s.taken_at FROM ferry.snapshots_of_night($1) s
  ), firing AS MATERIALIZED (
    -- Two looks into indexes: an OR would read all episodes.
    SELECT f.account, f.id FROM taken t
    JOIN ferry.alert_rule_firings f ON f.account = t.account AND f.began <= t.taken_at AND f.ended > t.taken_at
    UNION ALL
    SELECT f.account, f.id FROM taken t
    JOIN ferry.alert_rule_firings f ON f.account = t.account AND f.began <= t.taken_at AND f.ended IS NULL
  )
  SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, f.id IS NOT NULL,
    v.creator_name, v.updater_name
  FROM (
    SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, v.creator_name, v.updater_name
    FROM taken t
    JOIN ferry.alert_rule_versions v ON v.account = t.account AND v.valid_from <= t.taken_at AND v.valid_to IS NULL
    UNION ALL
    SELECT v.account, v.id, v.folder_id, v.name, v.labels, v.team, v.enabled, v.debug_log_enabled, v.creator_name, v.updater_name
    FROM taken t
    JOIN ferry.alert_rule_versions v ON v.account = t.account AND v.valid_from <= t.taken_at AND v.valid_to > t.taken_at
  ) v
  LEFT JOIN firing f ON f.id = v.id AND f.account = v.account
$$;

COMMENT ON FUNCTION ferry.alert_rules_of_night IS 'The alert rules as each account''s snapshot of a night shows them, see ferry.nights; none of an account that has no snapshot of that night. Raises an error if the history starts later.';
--> statement-breakpoint
-- Looks at the complete runs since the last one before `since`. Runs that changed nothing are kept for some time only, so
-- it looks no farther back than that.
-- As its owner: readers may not see the hashes of keys that it compares.
CREATE OR REPLACE FUNCTION ferry.blind_spots(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, inventory text, "from" timestamptz, "to" timestamptz, lasted interval, late_from timestamptz,
  fresh_again_at timestamptz, error_code text
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' SET jit = off AS $$
  SELECT i.account, i.inventory, g.at, g.next_at, coalesce(g.next_at, now()) - g.at,
    -- What a run has read is there once it has finished: until then the gap before it lasts.
    greatest(g.at + i.promise, g.finished_at), g.next_finished_at,
    l.error_code
  FROM (
    SELECT n.account, n.inventory, p.promise, p.folders, s.since, coalesce(
      (SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= s.since ORDER BY r.started_at LIMIT 1),
      9223372036854775807) AS run_since
    FROM ferry.inventories n
    JOIN ferry.inventory_promises p ON p.account = n.account AND p.resource = n.inventory
    CROSS JOIN LATERAL (
      SELECT greatest(coalesce($1, now() - interval '7 days'), now() - p.runs_kept) AS since
    ) s
    OFFSET 0
  ) i
  CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT c.id, c.at, c.finished_at, lead(c.id) OVER w AS next_id, lead(c.at) OVER w AS next_at, lead(c.finished_at) OVER w AS next_finished_at
      FROM (
        SELECT r.id, least(r.started_at, r.finished_at) AS at, r.finished_at FROM ferry.sync_runs r
        WHERE r.account = i.account AND r.resource = i.inventory AND r.status IN ('succeeded', 'held')
          AND r.scope -> 'folders' = i.folders
          AND r.id >= coalesce(
            (SELECT e.id FROM ferry.sync_runs e
             WHERE e.account = i.account AND e.resource = i.inventory AND e.status IN ('succeeded', 'held')
               AND e.scope -> 'folders' = i.folders AND e.id < i.run_since
             ORDER BY e.id DESC LIMIT 1), 0)
      ) c
      WINDOW w AS (ORDER BY c.id)
    ) o
    WHERE coalesce(o.next_finished_at, now()) > greatest(o.at + i.promise, i.since)
  ) g
  LEFT JOIN LATERAL (
    SELECT r.error_code FROM ferry.sync_runs r
    WHERE r.account = i.account AND r.resource = i.inventory AND r.id > g.id AND r.id < coalesce(g.next_id, r.id + 1)
      AND r.status IN ('failed', 'partial')
    ORDER BY r.id DESC LIMIT 1
  ) l ON true
  ORDER BY g.at DESC, i.account, i.inventory
$$;

COMMENT ON FUNCTION ferry.blind_spots IS 'When nothing complete was read for longer than promised, the latest first: account, inventory, from (the last complete listing before it), to (the next one; null if there is none yet), lasted, late_from and fresh_again_at (between them the data was older than promised), error_code (of the last run in it that failed). Since: 7 days ago by default.';
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
--> statement-breakpoint
-- As its owner: readers may not see the hashes of keys that it compares.
CREATE OR REPLACE FUNCTION ferry.freshness_daily(since timestamptz DEFAULT NULL)
RETURNS TABLE (account text, inventory text, day date, minutes integer, fresh_minutes integer, share double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' SET jit = off AS $$
  WITH late AS MATERIALIZED (
    SELECT b.account, b.inventory, b.late_from, coalesce(b.fresh_again_at, now()) AS fresh_again_at
    FROM ferry.blind_spots(coalesce($1, now() - interval '7 days')) b
  )
  SELECT d.account, d.inventory, d.day, round(d.seconds / 60)::integer, round((d.seconds - o.seconds) / 60)::integer,
    round(((d.seconds - o.seconds) / d.seconds)::numeric, 6)::double precision
  FROM (
    SELECT i.account, i.inventory, n.day::date AS day, b."from", b."to",
      extract(epoch FROM b."to" - b."from")::double precision AS seconds
    FROM ferry.inventories i
    JOIN ferry.inventory_promises p ON p.account = i.account AND p.resource = i.inventory
    -- From the first complete listing on.
    CROSS JOIN LATERAL (
      SELECT r.finished_at FROM ferry.sync_runs r
      WHERE r.account = i.account AND r.resource = i.inventory AND r.status IN ('succeeded', 'held')
        AND r.scope -> 'folders' = p.folders
      ORDER BY r.id LIMIT 1
    ) f
    CROSS JOIN LATERAL (
      SELECT greatest(coalesce($1, now() - interval '7 days'), now() - p.runs_kept, f.finished_at) AS since
    ) s
    CROSS JOIN LATERAL generate_series(
      date_trunc('day', s.since AT TIME ZONE p.timezone), now() AT TIME ZONE p.timezone, interval '1 day') n (day)
    CROSS JOIN LATERAL (
      SELECT greatest(n.day AT TIME ZONE p.timezone, s.since) AS "from",
        least((n.day + interval '1 day') AT TIME ZONE p.timezone, now()) AS "to"
    ) b
    WHERE b."to" > b."from"
  ) d
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(extract(epoch FROM least(l.fresh_again_at, d."to") - greatest(l.late_from, d."from"))), 0)
      ::double precision AS seconds
    FROM late l
    WHERE l.account = d.account AND l.inventory = d.inventory AND l.late_from < d."to" AND l.fresh_again_at > d."from"
  ) o
  ORDER BY d.day DESC, d.account, d.inventory
$$;

COMMENT ON FUNCTION ferry.freshness_daily IS 'For how much of each day each inventory was as fresh as promised: account, inventory, day (in FERRY_TIMEZONE), minutes that are over, fresh_minutes, and share of them. A day begins with the first complete listing, and today ends now. Since: 7 days ago by default.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_servers_of_night(night date)
RETURNS TABLE (
  account text, server_id text, server_name text, team_id numeric(20, 0), status text, auth_mode text, tools jsonb, valid_from timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT s.account, s.server_id, s.server_name, s.team_id, s.status, s.auth_mode, s.tools, s.valid_from
  FROM ferry.snapshots_of_night($1) n CROSS JOIN LATERAL ferry.mcp_servers_as_of(n.taken_at) s
  WHERE s.account = n.account
$$;

COMMENT ON FUNCTION ferry.mcp_servers_of_night IS 'The MCP servers as each account''s snapshot of a night shows them, see ferry.nights; none of an account that has no snapshot of that night. Raises an error if the history starts later.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_tools_of_night(night date)
RETURNS TABLE (
  account text, tool text, server_id text, server_name text, team_id numeric(20, 0), status text, description text, servers integer
) LANGUAGE sql STABLE AS $$
  SELECT s.account, t.tool ->> 'name' AS tool, s.server_id, s.server_name, s.team_id, s.status, t.tool ->> 'description',
    (count(*) OVER same_name)::int
  FROM ferry.mcp_servers_of_night($1) s CROSS JOIN LATERAL jsonb_array_elements(s.tools) WITH ORDINALITY AS t (tool, position)
  WINDOW same_name AS (PARTITION BY s.account, t.tool ->> 'name')
  ORDER BY s.account, t.tool ->> 'name', s.server_name, s.server_id, t.position
$$;

COMMENT ON FUNCTION ferry.mcp_tools_of_night IS 'The view mcp_tools, as the snapshots of a night show it.';
--> statement-breakpoint
-- The costs are those of alert_rules_of_night. Its rows are counted as they come: sorting them takes twice as long.
CREATE OR REPLACE FUNCTION ferry.rules_by_folder_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), rules integer, enabled integer, disabled integer, firing integer,
  debug_log_enabled integer, unowned integer
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_sort = off SET work_mem = '32MB' AS $$
  SELECT v.account, v.folder_id, count(*)::int AS rules, (count(*) FILTER (WHERE v.enabled))::int,
    (count(*) FILTER (WHERE NOT v.enabled))::int, (count(*) FILTER (WHERE v.triggered))::int,
    (count(*) FILTER (WHERE v.debug_log_enabled))::int, (count(*) FILTER (WHERE v.team IS NULL))::int
  FROM ferry.alert_rules_of_night($1) v
  GROUP BY v.account, v.folder_id
  ORDER BY rules DESC, v.account, v.folder_id
$$;

COMMENT ON FUNCTION ferry.rules_by_folder_of_night IS 'The view rules_by_folder, as the snapshots of a night show it.';
--> statement-breakpoint
-- The costs are those of alert_rules_of_night. Its rows are counted as they come: sorting them takes twice as long.
CREATE OR REPLACE FUNCTION ferry.rules_by_team_of_night(night date)
RETURNS TABLE (
  account text, team text, rules integer, enabled integer, disabled integer, firing integer, debug_log_enabled integer, folders integer
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 SET enable_sort = off SET work_mem = '32MB' AS $$
  SELECT c.account, c.team, sum(c.rules)::int AS rules, sum(c.enabled)::int, (sum(c.rules) - sum(c.enabled))::int,
    sum(c.firing)::int, sum(c.debug_log_enabled)::int, count(*)::int
  FROM (
    SELECT v.account, v.team, v.folder_id, count(*) AS rules, count(*) FILTER (WHERE v.enabled) AS enabled,
      count(*) FILTER (WHERE v.triggered) AS firing, count(*) FILTER (WHERE v.debug_log_enabled) AS debug_log_enabled
    FROM ferry.alert_rules_of_night($1) v
    GROUP BY v.account, v.team, v.folder_id
  ) c
  GROUP BY c.account, c.team
  ORDER BY rules DESC, c.account, c.team
$$;

COMMENT ON FUNCTION ferry.rules_by_team_of_night IS 'The view rules_by_team, as the snapshots of a night show it.';
--> statement-breakpoint
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
--> statement-breakpoint
-- The costs are those of alert_rules_of_night.
CREATE OR REPLACE FUNCTION ferry.rules_unowned_of_night(night date)
RETURNS TABLE (
  account text, folder_id numeric(20, 0), id numeric(20, 0), name text, enabled boolean, labels jsonb, creator_name text, updater_name text
) LANGUAGE sql STABLE SET jit = off SET random_page_cost = 0.05 AS $$
  SELECT v.account, v.folder_id, v.id, v.name, v.enabled, v.labels, v.creator_name, v.updater_name
  FROM ferry.alert_rules_of_night($1) v
  WHERE v.team IS NULL
  ORDER BY v.account, v.folder_id, v.name, v.id
$$;

COMMENT ON FUNCTION ferry.rules_unowned_of_night IS 'The view rules_unowned, as the snapshots of a night show it.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_by_team_of_night(night date)
RETURNS TABLE (
  account text, team_id numeric(20, 0), servers integer, enabled integer, tools integer, shared integer, last_change timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT s.account, s.team_id, count(*)::int AS servers, (count(*) FILTER (WHERE s.status = 'enabled'))::int,
    sum(jsonb_array_length(CASE WHEN jsonb_typeof(s.tools) = 'array' THEN s.tools ELSE '[]' END))::int,
    (count(*) FILTER (WHERE s.auth_mode = 'shared'))::int, max(s.valid_from)
  FROM ferry.mcp_servers_of_night($1) s
  GROUP BY s.account, s.team_id
  ORDER BY servers DESC, s.account, s.team_id
$$;

COMMENT ON FUNCTION ferry.mcp_by_team_of_night IS 'The view mcp_by_team, as the snapshots of a night show it.';
