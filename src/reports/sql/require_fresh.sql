-- STABLE, so that in WHERE it is asked once, before any row is read and also if there are none; and so that it judges what
-- the query sees, not what was written since.
CREATE OR REPLACE FUNCTION ferry.require_fresh(inventory text, max_age interval, account text DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
#variable_conflict use_column
DECLARE
  v_oldest record;
BEGIN
  IF $1 IS NULL OR $1 NOT IN ('alert-rules', 'mcp-servers') THEN
    RAISE EXCEPTION 'Unknown inventory %; the inventories are alert-rules and mcp-servers.', coalesce(quote_literal($1), 'null')
      USING ERRCODE = 'invalid_parameter_value';
  ELSIF $2 IS NULL OR $2 < interval '0' THEN
    RAISE EXCEPTION 'require_fresh needs to know how old the data may be, such as ''5 minutes''.'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT f.account, f.last_complete_at, f.age INTO v_oldest FROM ferry.freshness f
    WHERE f.inventory = $1 AND f.account = coalesce($3, f.account)
    ORDER BY f.age < interval '0' DESC NULLS FIRST, f.age DESC LIMIT 1;
  IF NOT FOUND OR v_oldest.age IS NULL THEN
    RAISE EXCEPTION 'The % of % were never read completely.', $1,
      coalesce('account ' || quote_literal(coalesce(v_oldest.account, $3)), 'every account')
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = '`ferry freshness` says why.';
  ELSIF v_oldest.age < interval '0' THEN
    RAISE EXCEPTION 'The % of account % were last read completely at %, which is % in the future: the clock was set back.', $1,
      quote_literal(v_oldest.account), date_trunc('second', v_oldest.last_complete_at),
      date_trunc('second', -v_oldest.age)
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'The next complete run ends this.';
  ELSIF v_oldest.age > $2 THEN
    RAISE EXCEPTION 'The % of account % are too old: they were last read completely at % (% ago), and may be % old.', $1,
      quote_literal(v_oldest.account), date_trunc('second', v_oldest.last_complete_at),
      date_trunc('second', v_oldest.age), $2
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = '`ferry freshness` says why.';
  END IF;
  RETURN true;
END $$;

COMMENT ON FUNCTION ferry.require_fresh IS 'Returns true if the last complete listing of the inventory (alert-rules or mcp-servers) is not older than max_age, for one account or, without one, for each. Else it raises an error that says how old it is. Use it in WHERE: there it is asked once, before any row is read.';
