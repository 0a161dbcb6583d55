-- What happened to a rule while it fired, or soon after. An episode that ended in the poll that saw the change counts as
-- one that was firing: a rule that is disabled or removed stops firing.
CREATE OR REPLACE FUNCTION ferry.silenced(since timestamptz DEFAULT NULL, soon_after interval DEFAULT '1 hour')
RETURNS TABLE (
  account text, at timestamptz, what text, id numeric(20, 0), name text, folder_id numeric(20, 0), team text, fields text[],
  updater_id numeric(20, 0), updater_name text, began timestamptz, ended timestamptz, while_firing boolean
) LANGUAGE sql STABLE
SET jit = off SET enable_mergejoin = off SET enable_sort = off SET work_mem = '32MB' AS $$
  WITH episodes AS MATERIALIZED (
    SELECT f.account, f.id, f.began, f.ended FROM ferry.alert_rule_firings f
    WHERE f.ended >= coalesce($1, now() - interval '7 days') - $2 AND f.ended < 'infinity'
    UNION ALL
    SELECT f.account, f.id, f.began, NULL FROM ferry.alert_rule_firings f WHERE f.ended IS NULL
  ), versions_ended AS MATERIALIZED (
    -- Changed or removed: either way, a version ended.
    SELECT v.account, v.id, v.valid_to AS at FROM ferry.alert_rule_versions v
    WHERE v.valid_to >= coalesce($1, now() - interval '7 days') AND v.valid_to < 'infinity'
  ), found AS MATERIALIZED (
    SELECT c.account, c.id, c.at, max(e.began) AS began
    FROM versions_ended c
    JOIN episodes e ON e.id = c.id AND e.account = c.account AND e.began < c.at AND coalesce(e.ended, 'infinity') >= c.at - $2
    GROUP BY c.account, c.id, c.at
  )
  SELECT f.account, f.at, CASE WHEN a.id IS NULL THEN 'removed' WHEN b.enabled AND NOT a.enabled THEN 'disabled' ELSE 'edited' END,
    f.id, coalesce(a.name, b.name), coalesce(a.folder_id, b.folder_id), CASE WHEN a.id IS NULL THEN b.team ELSE a.team END, d.fields,
    a.updater_id, a.updater_name, f.began, e.ended, coalesce(e.ended, 'infinity') >= f.at
  FROM found f
  JOIN ferry.alert_rule_firings e ON e.id = f.id AND e.account = f.account AND e.began = f.began
  CROSS JOIN LATERAL (
    SELECT b.*, b AS version FROM ferry.alert_rule_versions b
    WHERE b.id = f.id AND b.account = f.account AND b.valid_from < f.at ORDER BY b.valid_from DESC LIMIT 1
  ) b
  LEFT JOIN ferry.alert_rule_versions a ON a.id = f.id AND a.account = f.account AND a.valid_from = f.at
  LEFT JOIN LATERAL (
    SELECT array_agg(n.key ORDER BY n.key) AS fields
    FROM ferry_internal.alert_rule_differences(b.version, a) x, jsonb_object_keys(x.after) AS n (key)
    WHERE n.key <> ALL ('{updater_id,updater_name,updated_at}'::text[])
  ) d ON true
  ORDER BY f.at DESC, f.account, f.id
$$;

COMMENT ON FUNCTION ferry.silenced IS 'Alert rules that were disabled, removed or edited while they fired or soon after (an hour by default), since a time (null: seven days ago), the newest first. what: disabled, removed or edited, with the fields that differ. updater_id and updater_name: who, according to the platform, which does not say who removes a rule. began and ended: the episode; while_firing: whether it had not ended before.';
