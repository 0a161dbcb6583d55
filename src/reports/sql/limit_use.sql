-- Goes by the limits, so that the index on their calls is used.
-- By indexes, and not compiled: a planner that does not know `since` would read the whole table.
CREATE OR REPLACE FUNCTION ferry.limit_use(since timestamptz DEFAULT NULL, of_account text DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, operation text, calls integer, allowed integer, share double precision, refused integer
) LANGUAGE sql STABLE SET enable_seqscan = off SET jit = off AS $$
  -- By account first: calls are many, accounts that share a limit are few.
  WITH counted AS (
    SELECT date_trunc('minute', c.started) AS minute, c.limit_id, c.operation, c.account, max(c.calls_per_minute) AS allowed,
      count(*) AS calls, count(*) FILTER (WHERE c.http_status = 429) AS refused
    FROM ferry_internal.limited_calls c
    WHERE c.counted_by >= coalesce($1, now() - interval '1 hour') AND c.started >= coalesce($1, now() - interval '1 hour')
      AND ($2 IS NULL OR c.account = $2)
    GROUP BY 1, 2, 3, 4
  )
  SELECT n.minute, string_agg(n.account, ', ' ORDER BY n.account), n.operation, sum(n.calls)::integer, max(n.allowed),
    sum(n.calls)::double precision / max(n.allowed), sum(n.refused)::integer
  FROM counted n
  GROUP BY n.minute, n.limit_id, n.operation
  ORDER BY n.minute DESC, n.operation, 2
$$;

COMMENT ON FUNCTION ferry.limit_use IS 'How much of each limit was used, minute by minute, the latest first: minute, account (several, if they share the limit), operation, calls that began in it, allowed (calls in a minute, by the settings of the last worker), share of them, and refused (answered 429). Minutes without a call have no row. Since: one hour ago by default. If an account is named: its own calls alone, of a limit that it may share.';
