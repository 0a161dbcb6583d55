CREATE OR REPLACE FUNCTION ferry.alert_rules_as_of(at timestamptz)
RETURNS TABLE (
  account text, {{alert-rules $field $type, }}
  triggered boolean,
  valid_from timestamptz, valid_to timestamptz, opened_by_run bigint, closed_by_run bigint,
  fingerprint uuid, flags text[], altered text[]
) LANGUAGE sql STABLE AS $$
  SELECT v.account, {{alert-rules v.$field, }}
    -- Episodes do not overlap: the youngest begun by then decides. (As EXISTS it would be hashed: all episodes read.)
    coalesce((SELECT f.ended IS NULL OR f.ended > $1 FROM ferry.alert_rule_firings f
              WHERE f.id = v.id AND f.account = v.account AND f.began <= $1
              ORDER BY f.began DESC LIMIT 1), false) AS triggered,
    v.valid_from, v.valid_to, v.opened_by_run, v.closed_by_run, v.fingerprint, v.flags, v.altered
  FROM ferry.alert_rule_versions v
  WHERE v.valid_from <= $1 AND (v.valid_to IS NULL OR v.valid_to > $1)
    AND ferry_internal.expect_history($1)
$$;

COMMENT ON FUNCTION ferry.alert_rules_as_of IS 'The alert rules as they were known at a moment; the columns of alert_rules, and valid_to and closed_by_run. For a moment up to settled_at() the answer never changes, but for valid_to and closed_by_run: they are null until a run observes that the version has ended.';
