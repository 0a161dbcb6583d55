-- Whether p_token has the lease. If it has, nobody takes the lease over until the transaction ends, however long that is.
-- p_in_use: the lease counts as in use until then, see leases.ts. Otherwise its holder renews it meanwhile, however many
-- transactions do the same.
CREATE OR REPLACE FUNCTION ferry_internal.lock_lease(p_name text, p_token uuid, p_in_use boolean) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_expires_at timestamptz;
BEGIN
  IF p_in_use THEN
    SELECT l.expires_at INTO v_expires_at FROM ferry.leases l WHERE l.name = p_name AND l.token = p_token FOR UPDATE;
  ELSE
    SELECT l.expires_at INTO v_expires_at FROM ferry.leases l WHERE l.name = p_name AND l.token = p_token FOR KEY SHARE;
  END IF;
  RETURN coalesce(v_expires_at > clock_timestamp(), false);
END $$;

COMMENT ON FUNCTION ferry_internal.lock_lease IS 'Locks a lease and returns whether the token has it. For Ferry itself.';
