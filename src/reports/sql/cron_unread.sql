-- The view rules_contract_breaks asks it, as whoever reads the view, of the rules of all accounts: it finds no names of the reader's own.
CREATE OR REPLACE FUNCTION ferry_internal.cron_unread(p_pattern text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_names text[] := '{minute,hour,day,month,weekday}';
  v_from integer[] := '{0,0,1,1,0}';
  v_to integer[] := '{59,23,31,12,7}';
  v_fields text[] := regexp_split_to_array(btrim(p_pattern), '\s+');
  v_unread text[] := '{}';
BEGIN
  IF octet_length(p_pattern) > 400 THEN
    v_unread := '{more than 400 bytes}';
  ELSIF cardinality(v_fields) <> 5 THEN
    v_unread := '{not 5 fields}';
  ELSE
    FOR i IN 1 .. 5 LOOP
      -- Most fields are a star, and a look into the field takes time.
      IF v_fields[i] <> '*' AND ferry_internal.cron_field(v_fields[i], v_from[i], v_to[i]) IS NULL THEN
        v_unread := v_unread || v_names[i];
      END IF;
    END LOOP;
  END IF;
  RETURN 'Ferry cannot read this pattern: ' || nullif(array_to_string(v_unread, ', '), '');
END $$;

COMMENT ON FUNCTION ferry_internal.cron_unread IS 'Why ferry.cron_load leaves out rules of this cron pattern: the fields that it cannot read; null if it can read all.';
