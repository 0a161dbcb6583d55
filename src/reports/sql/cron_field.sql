CREATE OR REPLACE FUNCTION ferry_internal.cron_field(p_field text, p_from integer, p_to integer) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_names text[] := CASE p_to WHEN 12 THEN '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'
    WHEN 7 THEN '{sun,mon,tue,wed,thu,fri,sat}' ELSE '{}' END;
  v_field text := lower(p_field);
  v_values integer[] := '{}';
  v_part text;
  v_match text[];
  v_first integer;
  v_last integer;
BEGIN
  FOR i IN 1 .. cardinality(v_names) LOOP
    v_field := replace(v_field, v_names[i], (p_from + i - 1)::text);
  END LOOP;
  FOREACH v_part IN ARRAY string_to_array(v_field, ',') LOOP
    v_match := regexp_match(v_part, '^(?:[*?]|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?$');
    IF v_match IS NULL OR v_match[3]::integer = 0 THEN
      RETURN NULL;
    END IF;
    v_first := coalesce(v_match[1]::integer, p_from);
    -- A single number with a step goes on to the end.
    v_last := coalesce(v_match[2]::integer, CASE WHEN v_match[1] IS NULL OR v_match[3] IS NOT NULL THEN p_to ELSE v_first END);
    IF v_first < p_from OR v_last > p_to OR v_first > v_last THEN
      RETURN NULL;
    END IF;
    v_values := v_values || ARRAY(SELECT generate_series(v_first, v_last, coalesce(v_match[3]::integer, 1)));
  END LOOP;
  -- Sunday is 0 and 7.
  RETURN ARRAY(SELECT DISTINCT CASE WHEN p_to = 7 THEN value % 7 ELSE value END AS value FROM unnest(v_values) AS value ORDER BY value);
END $$;

COMMENT ON FUNCTION ferry_internal.cron_field IS 'The values that one field of a cron pattern stands for, between the two bounds; null if it cannot be read. For ferry.cron_load.';
