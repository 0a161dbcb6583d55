CREATE OR REPLACE FUNCTION ferry.zone_of(p_timezone text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  PERFORM now() AT TIME ZONE p_timezone;
  RETURN coalesce(nullif(p_timezone, ''), 'Asia/Shanghai');
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN 'Asia/Shanghai';
END $$;

COMMENT ON FUNCTION ferry.zone_of IS 'The time zone in which the platform reads a rule''s schedule: Asia/Shanghai if the rule has none, or one that this Postgres does not know.';
