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
  WHERE ferry_internal.expect_history(f.first) AND t.account IS NOT NULL
$$;

COMMENT ON FUNCTION ferry.snapshots_of_night IS 'The snapshot of a night of each account that has one, see ferry.nights. Raises an error if the history starts later.';
