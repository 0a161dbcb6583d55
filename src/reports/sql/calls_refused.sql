CREATE OR REPLACE FUNCTION ferry.calls_refused(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, operation text, error_code text, http_status integer, calls integer, first_at timestamptz, last_at timestamptz,
  request_ids text[]
) LANGUAGE sql STABLE AS $$
  SELECT c.account, c.operation, c.error_code, c.http_status, count(*)::integer, min(c.started), max(c.started),
    (array_agg(c.request_id ORDER BY c.started DESC) FILTER (WHERE c.request_id IS NOT NULL))[1:5]
  FROM ferry.platform_calls c
  WHERE c.error_code IS NOT NULL AND c.started >= coalesce($1, now() - interval '7 days')
  GROUP BY c.account, c.operation, c.error_code, c.http_status
  ORDER BY count(*) DESC, c.account, c.operation, c.error_code, c.http_status
$$;

COMMENT ON FUNCTION ferry.calls_refused IS 'Calls that the platform did not accept or answer, by code, the most frequent first: account, operation, error_code, http_status (null if there was no answer), calls, first_at, last_at, and the request_ids of the last five, for the platform''s support. Since: 7 days ago by default.';
