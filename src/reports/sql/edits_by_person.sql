CREATE OR REPLACE FUNCTION ferry.edits_by_person(
  since timestamptz DEFAULT NULL, of_account text DEFAULT NULL, of_folder numeric(20, 0) DEFAULT NULL
) RETURNS TABLE (
  account text, updater_id numeric(20, 0), updater_name text, edits integer, folders integer, last_edit timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT e.account, e.updater_id, min(e.updater_name), sum(e.edits)::int, count(*)::int, max(e.last_edit)
  FROM ferry.editors($1) e
  WHERE ($2 IS NULL OR e.account = $2) AND ($3 IS NULL OR e.folder_id = $3)
  GROUP BY e.account, e.updater_id
  ORDER BY sum(e.edits) DESC, e.account, e.updater_id
$$;

COMMENT ON FUNCTION ferry.edits_by_person IS 'Who edited the most alert rules since a time (null: 30 days ago), of one account and in one folder if they are named. edits: changes of rules that were known before; folders: in how many folders they were.';
