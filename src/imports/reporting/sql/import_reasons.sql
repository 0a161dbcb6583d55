-- As its owner, and counts only: readers may not see the rows. By the line, so that p_at_most bounds what is read.
CREATE OR REPLACE FUNCTION ferry.import_reasons(p_import bigint, p_at_most integer)
RETURNS TABLE (kind text, origin text, reason text, rows integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' SET enable_seqscan = off SET jit = off AS $$
  SELECT 'rejected', r.origin, r.reason, count(*)::integer
  FROM (SELECT origin, reason FROM ferry.import_rejects WHERE import_id = p_import ORDER BY line LIMIT p_at_most) r
  GROUP BY r.origin, r.reason
  UNION ALL
  SELECT l.kind, NULL, l.reason, count(*)::integer
  FROM (SELECT kind, reason FROM ferry.import_left_out WHERE import_id = p_import ORDER BY line LIMIT p_at_most) l
  GROUP BY l.kind, l.reason
  ORDER BY 4 DESC, 1, 3
$$;

COMMENT ON FUNCTION ferry.import_reasons IS 'Why rows of an import are not sent and how many, counted in its first p_at_most rejects and as many rows left out. Counts only. For Ferry itself.';
