-- Takes a slot in the call log, or says how long to wait. One row: call_id, or wait_ms (null once taken).
--
-- The row of platform_limits is locked first; every statement of a volatile plpgsql function sees a snapshot of its
-- own, so the count that follows sees all calls recorded before the lock was granted. (Locked and counted in
-- one statement, the count would use a snapshot older than the lock and let too many through.)
--
-- A call counts in a window until the platform must have forgotten it: the platform counts it some time between
-- our sending and least(finished, counted_by). `sooner` is true while the wait hangs on calls in flight, which
-- may well end before their counted_by: ask again after a short while.
CREATE FUNCTION ferry.take_slot(
  p_limit_key text, p_operation text, p_account text, p_run_id bigint,
  p_most int[], p_window_ms int[], p_bound_ms int,
  OUT call_id bigint, OUT wait_ms double precision, OUT sooner boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_blocked_until timestamptz;
  v_now timestamptz;
  v_counts_until timestamptz;
  v_free_at timestamptz;
BEGIN
  SELECT l.blocked_until INTO v_blocked_until FROM ferry.platform_limits l
    WHERE l.limit_key = p_limit_key AND l.operation = p_operation FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO ferry.platform_limits (limit_key, operation) VALUES (p_limit_key, p_operation)
      ON CONFLICT DO NOTHING;
    SELECT l.blocked_until INTO v_blocked_until FROM ferry.platform_limits l
      WHERE l.limit_key = p_limit_key AND l.operation = p_operation FOR UPDATE;
  END IF;

  v_now := clock_timestamp();
  v_free_at := greatest(v_blocked_until, v_now);
  sooner := false;
  FOR i IN 1 .. array_length(p_most, 1) LOOP
    -- The p_most-th youngest call of the window: once it has left, there is room for one more.
    SELECT least(c.finished, c.counted_by) INTO v_counts_until FROM ferry.platform_calls c
      WHERE c.limit_key = p_limit_key AND c.operation = p_operation
        AND c.counted_by > v_now - p_window_ms[i] * interval '1 ms'
        AND least(c.finished, c.counted_by) > v_now - p_window_ms[i] * interval '1 ms'
      ORDER BY 1 DESC OFFSET p_most[i] - 1 LIMIT 1;
    IF FOUND THEN
      v_free_at := greatest(v_free_at, v_counts_until + p_window_ms[i] * interval '1 ms');
      sooner := sooner OR v_counts_until > v_now;
    END IF;
  END LOOP;

  IF v_free_at > v_now THEN
    wait_ms := extract(epoch FROM v_free_at - v_now) * 1000;
    RETURN;
  END IF;
  INSERT INTO ferry.platform_calls (limit_key, account, operation, started, counted_by, run_id)
    VALUES (p_limit_key, p_account, p_operation, v_now, v_now + p_bound_ms * interval '1 ms', p_run_id)
    RETURNING id INTO call_id;
END $$;
--> statement-breakpoint
-- Records the end of a call. `finished` is the moment an answer of the platform came: one that never came, or a
-- gateway's in its place, proves nothing, and the call counts until counted_by.
--
-- A 429 moves blocked_until forward, never back, for every worker: by 1 s doubled at each strike up to 60 s, or by
-- Retry-After if that is longer, up to ten minutes (who has to wait for longer learns it by asking again). Answers to
-- calls sent before the block are one strike together. Any other answer ends the strikes.
CREATE FUNCTION ferry.finish_call(
  p_call_id bigint, p_answered boolean, p_http_status int, p_error_code text, p_request_id text,
  p_retry_after_ms double precision
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_call ferry.platform_calls;
BEGIN
  UPDATE ferry.platform_calls SET finished = CASE WHEN p_answered THEN clock_timestamp() END,
      http_status = p_http_status, error_code = p_error_code, request_id = p_request_id
    WHERE id = p_call_id RETURNING * INTO v_call;
  IF p_http_status = 429 OR p_error_code = 'RequestTooFrequently' THEN
    UPDATE ferry.platform_limits l SET
        strikes = l.strikes + fresh::int,
        blocked_until = greatest(l.blocked_until, clock_timestamp() + interval '1 ms' * greatest(
          least(coalesce(p_retry_after_ms, 0), 600000),
          least(1000 * 2.0 ^ least(l.strikes + fresh::int - 1, 6), 60000)))
      FROM (SELECT coalesce(v_call.started > b.blocked_until, true) AS fresh FROM ferry.platform_limits b
            WHERE b.limit_key = v_call.limit_key AND b.operation = v_call.operation FOR UPDATE) s
      WHERE l.limit_key = v_call.limit_key AND l.operation = v_call.operation;
  ELSIF p_answered THEN
    UPDATE ferry.platform_limits SET strikes = 0
      WHERE limit_key = v_call.limit_key AND operation = v_call.operation AND strikes > 0
        AND v_call.started > blocked_until;
  END IF;
END $$;
--> statement-breakpoint
CREATE FUNCTION ferry.alert_rules_as_of(at timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), account_id numeric(20, 0), folder_id numeric(20, 0), name text, labels jsonb,
  ds_type text, enabled boolean, debug_log_enabled boolean, cron_pattern text, timezone text,
  delay_seconds bigint, creator_id numeric(20, 0), creator_name text, updater_id numeric(20, 0),
  updater_name text, created_at bigint, updated_at bigint, triggered boolean,
  valid_from timestamptz, valid_to timestamptz, opened_by_run bigint, closed_by_run bigint,
  fingerprint uuid, flags text[], altered text[]
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.id, v.account_id, v.folder_id, v.name, v.labels, v.ds_type, v.enabled, v.debug_log_enabled,
    v.cron_pattern, v.timezone, v.delay_seconds, v.creator_id, v.creator_name, v.updater_id, v.updater_name,
    v.created_at, v.updated_at,
    -- Episodes do not overlap: the youngest begun by then decides. (As EXISTS it would be hashed: all episodes read.)
    coalesce((SELECT f.ended IS NULL OR f.ended > $1 FROM ferry.alert_rule_firings f
              WHERE f.id = v.id AND f.account = v.account AND f.began <= $1
              ORDER BY f.began DESC LIMIT 1), false) AS triggered,
    v.valid_from, v.valid_to, v.opened_by_run, v.closed_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.alert_rule_versions v
  WHERE v.valid_from <= $1 AND coalesce(v.valid_to, 'infinity') > $1
$$;
--> statement-breakpoint
CREATE FUNCTION ferry.mcp_servers_as_of(at timestamptz)
RETURNS TABLE (
  account text, server_id text, account_id numeric(20, 0), team_id numeric(20, 0), can_edit boolean,
  server_name text, description text, transport text, url text, status text, connect_timeout bigint,
  call_timeout bigint, tool_count bigint, tools jsonb, auth_mode text, created_by numeric(20, 0),
  created_at bigint, updated_at bigint,
  valid_from timestamptz, valid_to timestamptz, opened_by_run bigint, closed_by_run bigint,
  fingerprint uuid, flags text[], altered text[]
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.server_id, v.account_id, v.team_id, v.can_edit, v.server_name, v.description, v.transport,
    v.url, v.status, v.connect_timeout, v.call_timeout, v.tool_count, v.tools, v.auth_mode, v.created_by,
    v.created_at, v.updated_at,
    v.valid_from, v.valid_to, v.opened_by_run, v.closed_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.mcp_server_versions v
  WHERE v.valid_from <= $1 AND (v.valid_to IS NULL OR v.valid_to > $1)
$$;
--> statement-breakpoint
CREATE VIEW ferry.alert_rules AS
  SELECT v.account, v.id, v.account_id, v.folder_id, v.name, v.labels, v.ds_type, v.enabled, v.debug_log_enabled,
    v.cron_pattern, v.timezone, v.delay_seconds, v.creator_id, v.creator_name, v.updater_id, v.updater_name,
    v.created_at, v.updated_at,
    EXISTS (SELECT FROM ferry.alert_rule_firings f
            WHERE f.id = v.id AND f.account = v.account AND f.ended IS NULL) AS triggered,
    v.valid_from, v.opened_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NULL;
--> statement-breakpoint
CREATE VIEW ferry.mcp_servers AS
  SELECT v.account, v.server_id, v.account_id, v.team_id, v.can_edit, v.server_name, v.description, v.transport,
    v.url, v.status, v.connect_timeout, v.call_timeout, v.tool_count, v.tools, v.auth_mode, v.created_by,
    v.created_at, v.updated_at, v.valid_from, v.opened_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.mcp_server_versions v
  WHERE v.valid_to IS NULL;
--> statement-breakpoint
CREATE VIEW ferry.mcp_server_tools AS
  SELECT v.account, v.server_id, v.server_name, t.position, t.tool ->> 'name' AS name,
    t.tool ->> 'description' AS description
  FROM ferry.mcp_server_versions v
  CROSS JOIN LATERAL jsonb_array_elements(v.tools) WITH ORDINALITY AS t (tool, position)
  WHERE v.valid_to IS NULL;
--> statement-breakpoint
-- One row per event in the life of a rule. `before` and `after` hold the fields that differ. Each version looks up the
-- one before it by itself, so that a condition on the rule or on the time reaches the index.
CREATE VIEW ferry.alert_rule_changes AS
  SELECT v.account, v.id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.name,
    CASE WHEN p.id IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after, v.updater_id, v.updater_name
  FROM ferry.alert_rule_versions v
  LEFT JOIN LATERAL (
    SELECT * FROM ferry.alert_rule_versions p
    WHERE p.id = v.id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(key, b.value) AS before, jsonb_object_agg(key, a.value) AS after
    FROM jsonb_each(to_jsonb(p)) b JOIN jsonb_each(to_jsonb(v)) a USING (key)
    WHERE a.value <> b.value AND key <> ALL (
      '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered}'::text[])
  ) d ON p.id IS NOT NULL
  UNION ALL
  SELECT v.account, v.id, v.valid_to, v.closed_by_run, v.name, 'removed', NULL, NULL, NULL, NULL
  FROM ferry.alert_rule_versions v
  WHERE v.valid_to IS NOT NULL AND NOT EXISTS (
    SELECT FROM ferry.alert_rule_versions n WHERE n.id = v.id AND n.account = v.account AND n.valid_from = v.valid_to
  );
--> statement-breakpoint
CREATE VIEW ferry.mcp_server_changes AS
  SELECT v.account, v.server_id, v.valid_from AS observed_at, v.opened_by_run AS run_id, v.server_name,
    CASE WHEN p.server_id IS NULL THEN 'added' WHEN p.valid_to < v.valid_from THEN 'returned' ELSE 'changed' END AS change,
    d.before, d.after
  FROM ferry.mcp_server_versions v
  LEFT JOIN LATERAL (
    SELECT * FROM ferry.mcp_server_versions p
    WHERE p.server_id = v.server_id AND p.account = v.account AND p.valid_from < v.valid_from
    ORDER BY p.valid_from DESC LIMIT 1
  ) p ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(key, b.value) AS before, jsonb_object_agg(key, a.value) AS after
    FROM jsonb_each(to_jsonb(p)) b JOIN jsonb_each(to_jsonb(v)) a USING (key)
    WHERE a.value <> b.value AND key <> ALL (
      '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered}'::text[])
  ) d ON p.server_id IS NOT NULL
  UNION ALL
  SELECT v.account, v.server_id, v.valid_to, v.closed_by_run, v.server_name, 'removed', NULL, NULL
  FROM ferry.mcp_server_versions v
  WHERE v.valid_to IS NOT NULL AND NOT EXISTS (
    SELECT FROM ferry.mcp_server_versions n WHERE n.server_id = v.server_id AND n.account = v.account AND n.valid_from = v.valid_to
  );
--> statement-breakpoint
CREATE VIEW ferry.alert_rules_firing AS
  SELECT f.account, f.id, v.name, v.folder_id, v.labels, f.began, clock_timestamp() - f.began AS firing_for
  FROM ferry.alert_rule_firings f
  LEFT JOIN ferry.alert_rule_versions v ON v.id = f.id AND v.account = f.account AND v.valid_to IS NULL
  WHERE f.ended IS NULL;
