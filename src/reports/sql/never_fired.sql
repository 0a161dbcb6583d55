-- In the order of ids, in which it finds the rules in two indexes alone and stops early. A hash of all episodes would take
-- three times as long. A rule is observed while it is there and enabled, from the start of the history on: episodes that ended
-- before were removed.
CREATE OR REPLACE FUNCTION ferry_internal.never_fired(
  at_most integer, of_account text, of_folder numeric(20, 0), after_id numeric(20, 0), after_account text
) RETURNS TABLE (
  account text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, first_seen timestamptz,
  days_observed double precision, updater_name text
) LANGUAGE sql STABLE SET jit = off SET enable_hashjoin = off SET enable_seqscan = off AS $$
  SELECT v.account, v.id, v.name, v.folder_id, v.team, b.valid_from,
    (extract(epoch FROM b.observed) / 86400)::float8, v.updater_name
  FROM (
    SELECT c.id, c.account FROM ferry.alert_rule_versions c
    WHERE c.valid_to IS NULL AND c.enabled AND ($2 IS NULL OR c.account = $2) AND ($3 IS NULL OR c.folder_id = $3)
      AND (c.id, c.account) > (coalesce($4, -1), coalesce($5, ''))
      AND NOT EXISTS (SELECT FROM ferry.alert_rule_firings f WHERE f.id = c.id AND f.account = c.account)
    ORDER BY c.id, c.account LIMIT $1
  ) s
  CROSS JOIN (SELECT ferry.history_start() AS starts_at OFFSET 0) h -- asked once, not for each version
  JOIN ferry.alert_rule_versions v ON v.id = s.id AND v.account = s.account AND v.valid_to IS NULL
  CROSS JOIN LATERAL (
    SELECT min(b.valid_from) AS valid_from, coalesce(
      sum(coalesce(b.valid_to, clock_timestamp()) - greatest(b.valid_from, h.starts_at))
        FILTER (WHERE b.enabled AND coalesce(b.valid_to, clock_timestamp()) > h.starts_at), interval '0') AS observed
    FROM ferry.alert_rule_versions b WHERE b.id = s.id AND b.account = s.account
  ) b
  ORDER BY v.id, v.account
$$;

COMMENT ON FUNCTION ferry_internal.never_fired IS 'The enabled alert rules that were never seen firing, by id: at most this many (null: all) after a rule (null: from the first on), of one account and folder if they are named. For the report rules_never_fired and its page.';
