CREATE OR REPLACE FUNCTION ferry.rules_never_fired(at_most integer DEFAULT 1000, of_account text DEFAULT NULL)
RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, first_seen timestamptz,
  days_observed double precision, updater_name text, in_all integer
) LANGUAGE sql STABLE SET jit = off SET enable_hashjoin = off SET enable_seqscan = off AS $$
  SELECT n.*, (
    SELECT count(*)::int FROM ferry.alert_rule_versions c
    WHERE c.valid_to IS NULL AND c.enabled AND ($2 IS NULL OR c.account = $2)
      AND NOT EXISTS (SELECT FROM ferry.alert_rule_firings f WHERE f.id = c.id AND f.account = c.account)
  )
  FROM ferry_internal.never_fired($1, $2, NULL, NULL, NULL) n
  ORDER BY n.days_observed DESC, n.id, n.account
$$;

COMMENT ON FUNCTION ferry.rules_never_fired IS 'The enabled alert rules that were never seen firing, longest observed first: at most this many (1,000 by default, null for all), those with the lowest ids, of one account if it is named; in_all says how many there are. first_seen: when the oldest version that is kept began. days_observed: for how long the rule was there and enabled, from history_start() on: what fired before is not known. An alert that began and ended between two polls was not seen.';
