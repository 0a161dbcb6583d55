-- What is known of the begin and the end of an episode: decided here alone, by looks into the primary key of versions. (As EXISTS they
-- could be hashed: all versions read.) Without settings of its own, Postgres inlines it.
CREATE OR REPLACE FUNCTION ferry_internal.episodes(since timestamptz)
RETURNS TABLE (
  account text, id numeric(20, 0), began timestamptz, ended timestamptz, began_seen boolean, was_cleared boolean
) LANGUAGE sql STABLE AS $$
  SELECT f.account, f.id, f.began, f.ended,
    coalesce((SELECT v.valid_from < f.began OR v.appeared IS NULL FROM ferry.alert_rule_versions v
      WHERE v.id = f.id AND v.account = f.account AND v.valid_from <= f.began ORDER BY v.valid_from DESC LIMIT 1), false),
    coalesce((SELECT v.valid_to > f.ended OR v.valid_to IS NULL AND f.ended IS NOT NULL FROM ferry.alert_rule_versions v
      WHERE v.id = f.id AND v.account = f.account AND v.valid_from <= f.ended ORDER BY v.valid_from DESC LIMIT 1), false)
  FROM (
    -- Two looks into indexes: an OR would read all episodes.
    SELECT e.account, e.id, e.began, e.ended FROM ferry.alert_rule_firings e WHERE e.ended > $1 AND e.ended < 'infinity'
    UNION ALL
    SELECT e.account, e.id, e.began, NULL FROM ferry.alert_rule_firings e WHERE e.ended IS NULL
  ) f
$$;

COMMENT ON FUNCTION ferry_internal.episodes IS 'The episodes of alert rules that fire, or ended after a time. began_seen: the rule was known before it began to fire, or was added then; else (a first reading found it firing, it appeared so, or its versions of then were removed for their age) nobody knows since when it fired. was_cleared: it ended, and the rule was still there; else the rule was removed while it fired, or it fires. For the reports.';
