CREATE OR REPLACE FUNCTION ferry.time_to_clear(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, team text, episodes integer, p50 interval, p90 interval, longest interval, removed integer, began_unseen integer
) LANGUAGE sql STABLE SET jit = off AS $$
  WITH ended AS MATERIALIZED (
    -- Once for each: what is inlined is looked up as often as it is named.
    SELECT e.account, e.id, e.began, e.ended, e.began_seen, e.was_cleared
    FROM ferry_internal.episodes(coalesce($1, now() - interval '7 days')) e WHERE e.ended IS NOT NULL
  ), episodes AS MATERIALIZED (
    SELECT e.account, e.id, CASE WHEN e.was_cleared AND e.began_seen THEN e.ended - e.began END AS took,
      NOT e.was_cleared AS is_removed, e.was_cleared AND NOT e.began_seen AS is_unseen
    FROM ended e
  ), rules AS MATERIALIZED (
    SELECT r.account, r.id, v.team
    FROM (SELECT e.account, e.id FROM episodes e GROUP BY e.id, e.account) r
    CROSS JOIN LATERAL (
      SELECT v.team FROM ferry.alert_rule_versions v
      WHERE v.id = r.id AND v.account = r.account ORDER BY v.valid_from DESC LIMIT 1
    ) v
  )
  SELECT e.account, r.team, count(e.took)::int, percentile_cont(0.5) WITHIN GROUP (ORDER BY e.took),
    percentile_cont(0.9) WITHIN GROUP (ORDER BY e.took), max(e.took),
    (count(*) FILTER (WHERE e.is_removed))::int, (count(*) FILTER (WHERE e.is_unseen))::int
  FROM episodes e JOIN rules r ON r.id = e.id AND r.account = e.account
  GROUP BY e.account, r.team
  ORDER BY e.account, r.team
$$;

COMMENT ON FUNCTION ferry.time_to_clear IS 'How long the episodes lasted that were cleared since a time (null: seven days ago), by the team of the rule: half of them at most p50, nine in ten at most p90. Two kinds of episodes that ended are only counted: those whose rule was removed while it fired (removed), and those that were cleared but not seen to begin, because a first reading found the rule firing, it appeared so, or its versions of then were removed for their age (began_unseen). A rule that is switched off while it fires counts as cleared then (ferry.silenced names it). A begin and an end are known to one poll, so an episode may have been shorter or longer by one poll interval.';
