-- The calls of the call log, each with its limit. As its owner, and without the keys of limits, which have hashes of keys in them.
CREATE OR REPLACE VIEW ferry_internal.limited_calls AS
  SELECT c.id, l.id AS limit_id, l.calls_per_minute, c.account, c.operation, c.started, c.counted_by, c.finished,
    c.http_status, c.batch_id
  FROM ferry.platform_limits l
  JOIN ferry.platform_calls c ON c.limit_key = l.limit_key AND c.operation = l.operation;

COMMENT ON VIEW ferry_internal.limited_calls IS 'The calls to the platform, each with the limit that it counts for. Ask for counted_by too, for the index.';
SELECT ferry_internal.describe_columns('ferry_internal.limited_calls', 'ferry.platform_limits');
SELECT ferry_internal.describe_columns('ferry_internal.limited_calls', 'ferry.platform_calls');
COMMENT ON COLUMN ferry_internal.limited_calls.limit_id IS 'The limit (platform_limits.id). Accounts that share a limit have one.';
