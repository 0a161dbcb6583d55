-- Gives the columns of a view the comments of the columns of the same name in the relation they come from: they mean
-- the same. For the files of views; a comment that follows the call replaces what it gave.
CREATE OR REPLACE FUNCTION ferry_internal.describe_columns(p_view regclass, p_source regclass) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_column record;
BEGIN
  FOR v_column IN
    SELECT a.attname AS name, col_description(s.attrelid, s.attnum) AS comment
    FROM pg_attribute a JOIN pg_attribute s ON s.attrelid = p_source AND s.attname = a.attname AND s.attnum > 0
    WHERE a.attrelid = p_view AND a.attnum > 0 AND col_description(s.attrelid, s.attnum) IS NOT NULL
  LOOP
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', p_view, v_column.name, v_column.comment);
  END LOOP;
END $$;

COMMENT ON FUNCTION ferry_internal.describe_columns IS 'Copies the comments of columns to the view that shows them. For Ferry itself.';
