CREATE TABLE "ferry"."history" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	CONSTRAINT "history_has_one_row" CHECK ("ferry"."history"."only")
);
--> statement-breakpoint
-- Called with the moment alone, so a query asks once, not for each row.
CREATE OR REPLACE FUNCTION ferry.expect_history(at timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  IF at < ferry.history_start() THEN
    RAISE EXCEPTION 'The history starts at %: versions that ended before were removed.', ferry.history_start()
      USING ERRCODE = 'FE001', HINT = 'Ask for a later moment. FERRY_KEEP_VERSIONS says how long versions are kept.';
  END IF;
  RETURN true;
END $$;

COMMENT ON FUNCTION ferry.expect_history IS 'True if the history is complete at a moment; else raises an error. The _as_of functions call it.';
--> statement-breakpoint
-- SECURITY DEFINER: whoever may ask for a moment of the past may know from when on the past is known.
CREATE OR REPLACE FUNCTION ferry.history_start() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT coalesce((SELECT starts_at FROM ferry.history), '-infinity')
$$;

COMMENT ON FUNCTION ferry.history_start IS 'From when on the history is complete: versions that ended before may have been removed. -infinity if none was.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.mcp_servers_as_of(at timestamptz)
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
    AND ferry.expect_history($1)
$$;

COMMENT ON FUNCTION ferry.mcp_servers_as_of IS 'The MCP servers as they were known at a moment; the columns of mcp_servers, and valid_to and closed_by_run.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.audit_log AS
  SELECT a.at, a.account, a.actor, a.action, a.subject_kind || ' ' || a.subject_id AS subject, a.because
  FROM ferry.audit a
  ORDER BY a.id DESC;

COMMENT ON VIEW ferry.audit_log IS 'What people did by hand, the newest first; ferry audit lists the same.';
SELECT ferry.describe_columns('ferry.audit_log', 'ferry.audit');
COMMENT ON COLUMN ferry.audit_log.subject IS 'What it was done to: a run, an import or a schedule, and which one.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.alert_rules_as_of(at timestamptz)
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
    AND ferry.expect_history($1)
$$;

COMMENT ON FUNCTION ferry.alert_rules_as_of IS 'The alert rules as they were known at a moment; the columns of alert_rules, and valid_to and closed_by_run.';
