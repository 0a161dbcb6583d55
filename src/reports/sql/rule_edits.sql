-- A version is an edit if the one before it ended at the same instant: else the rule was added, or returned. Many edits share
-- an instant, so the callers forbid to merge by it. Without settings of its own, Postgres inlines it.
CREATE OR REPLACE FUNCTION ferry_internal.rule_edits(since timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), folder_id numeric(20, 0), updater_id numeric(20, 0), edited_at timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT v.account, v.id, v.folder_id, v.updater_id, v.valid_from
  FROM ferry.alert_rule_versions v
  JOIN ferry.alert_rule_versions p ON p.id = v.id AND p.account = v.account AND p.valid_to = v.valid_from
  WHERE v.valid_from >= $1 AND v.valid_from < 'infinity' AND p.valid_to >= $1 AND p.valid_to < 'infinity'
$$;

COMMENT ON FUNCTION ferry_internal.rule_edits IS 'Who edited which alert rule since a time: one row for each change that was observed, without additions and returns. For the reports.';
