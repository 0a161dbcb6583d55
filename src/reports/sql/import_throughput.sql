-- A batch that a person says was sent has no answer, or the error of the last one: the platform accepted nothing. Of a batch that was
-- split after the call, a part of its lines may be what the call was accepted for.
CREATE OR REPLACE FUNCTION ferry.import_throughput(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, calls integer, rows integer, allowed integer, share double precision
) LANGUAGE sql STABLE SET enable_seqscan = off SET jit = off AS $$
  SELECT date_trunc('minute', c.started), c.account, count(*)::integer,
    coalesce(sum(a.rows), 0)::integer,
    max(c.calls_per_minute), count(*)::double precision / max(c.calls_per_minute)
  FROM ferry_internal.limited_calls c
  LEFT JOIN ferry.import_batches b ON b.id = c.batch_id
  LEFT JOIN LATERAL (
    SELECT sum(a.rows) AS rows FROM ferry.import_batches a
    WHERE a.import_id = b.import_id AND a.from_line BETWEEN b.from_line AND b.to_line AND a.call_id = c.id
      AND a.state = 'sent' AND a.http_status IS NOT NULL AND a.error_code IS NULL
  ) a ON true
  WHERE c.operation = 'import-subscribers'
    AND c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY date_trunc('minute', c.started), c.account
  ORDER BY date_trunc('minute', c.started) DESC, c.account
$$;

COMMENT ON FUNCTION ferry.import_throughput IS 'How fast imports are sent, minute by minute, the latest first: minute, account, calls, rows that the platform accepted with them, allowed (calls in a minute, by the settings of the last worker; accounts of one limitGroup share them), and share of them. Minutes without a call have no row. Since: one day ago by default.';
