CREATE TABLE "ferry"."import_locales" (
	"import_id" bigint NOT NULL,
	"locale" text NOT NULL,
	"sent" integer NOT NULL,
	CONSTRAINT "import_locales_import_id_locale_pk" PRIMARY KEY("import_id","locale")
);
--> statement-breakpoint
-- Keeps how many rows of each locale an import has sent: when a batch becomes sent, its rows are counted, but those set
-- aside, which are rejected. The table of recipients may be as large as it likes, and its statistics old: by its index.
CREATE OR REPLACE FUNCTION ferry.count_locales() RETURNS trigger LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO ferry.import_locales AS l (import_id, locale, sent)
    SELECT r.import_id, r.locale, count(*) FROM ferry.import_recipients r
    WHERE r.import_id = NEW.import_id AND r.line BETWEEN NEW.from_line AND NEW.to_line AND r.line <> ALL (NEW.set_aside)
    GROUP BY r.import_id, r.locale ORDER BY r.locale
    ON CONFLICT (import_id, locale) DO UPDATE SET sent = l.sent + excluded.sent;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER import_batches_sent_locales AFTER UPDATE OF state ON ferry.import_batches
  FOR EACH ROW WHEN (NEW.state = 'sent' AND OLD.state <> 'sent') EXECUTE FUNCTION ferry.count_locales();

COMMENT ON FUNCTION ferry.count_locales IS 'Keeps how many rows of each locale an import has sent. For Ferry itself.';
--> statement-breakpoint
-- As its owner: readers may not see the hashes of keys that it compares.
CREATE OR REPLACE FUNCTION ferry.call_latency(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, operation text, calls integer, unanswered integer, p50 interval, p95 interval, p99 interval, longest interval
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT c.account, c.operation, count(*)::integer, count(*) FILTER (WHERE c.http_status IS NULL)::integer,
    make_interval(secs => percentile_cont(0.5) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => percentile_cont(0.95) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => percentile_cont(0.99) WITHIN GROUP (ORDER BY e.seconds)),
    make_interval(secs => max(e.seconds))
  FROM ferry.platform_limits l
  JOIN ferry.platform_calls c ON c.limit_key = l.limit_key AND c.operation = l.operation
  CROSS JOIN LATERAL (
    SELECT CASE WHEN c.http_status IS NOT NULL THEN extract(epoch FROM c.finished - c.started)::double precision END AS seconds
  ) e
  WHERE c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY c.account, c.operation
  ORDER BY c.account, c.operation
$$;

COMMENT ON FUNCTION ferry.call_latency IS 'How long the platform took to answer: account, operation, calls, unanswered (without an HTTP status), and p50, p95, p99 and longest of the answered ones. Since: one day ago by default.';
--> statement-breakpoint
CREATE OR REPLACE VIEW ferry.import_funnel AS
  SELECT i.id AS import, i.account, i.page_id, i.method, i.status, i.created_at, i.read,
    i.rejected - i.rejected_by_platform AS rejected_by_check, i.duplicate, i.suppressed, i.already_imported,
    i.recipients + i.rejected_by_platform AS to_send, i.rejected_by_platform, i.sent, i.uncertain,
    i.recipients - i.sent - i.uncertain AS pending,
    i.read - (i.recipients + i.rejected + i.duplicate + i.suppressed + i.already_imported) AS missing
  FROM ferry.imports i
  ORDER BY i.id DESC;

COMMENT ON VIEW ferry.import_funnel IS 'What became of the rows of each import, the newest first: read = rejected_by_check + duplicate + suppressed + already_imported + to_send, and to_send = rejected_by_platform + sent + uncertain + pending.';
SELECT ferry.describe_columns('ferry.import_funnel', 'ferry.imports');
COMMENT ON COLUMN ferry.import_funnel.import IS 'The import (imports.id).';
COMMENT ON COLUMN ferry.import_funnel.rejected_by_check IS 'Rows that did not pass the check of the file.';
COMMENT ON COLUMN ferry.import_funnel.to_send IS 'Rows that were, or are, to be sent.';
COMMENT ON COLUMN ferry.import_funnel.pending IS 'Rows that are still to be sent.';
COMMENT ON COLUMN ferry.import_funnel.missing IS 'Rows that are in no place: always 0.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ferry.import_throughput(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, calls integer, rows integer, allowed integer, share double precision
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT date_trunc('minute', c.started), c.account, count(*)::integer,
    coalesce(sum(b.rows) FILTER (WHERE b.state = 'sent' AND b.call_id = c.id), 0)::integer,
    max(l.calls_per_minute), count(*)::double precision / max(l.calls_per_minute)
  FROM ferry.platform_limits l
  JOIN ferry.platform_calls c ON c.limit_key = l.limit_key AND c.operation = l.operation
  LEFT JOIN ferry.import_batches b ON b.id = c.batch_id
  WHERE l.operation = 'import-subscribers'
    AND c.counted_by >= coalesce($1, now() - interval '1 day') AND c.started >= coalesce($1, now() - interval '1 day')
  GROUP BY date_trunc('minute', c.started), c.account
  ORDER BY date_trunc('minute', c.started) DESC, c.account
$$;

COMMENT ON FUNCTION ferry.import_throughput IS 'How fast imports are sent, minute by minute, the latest first: minute, account, calls, rows that the platform accepted with them, allowed (calls in a minute, by the settings of the last worker; accounts of one limitGroup share them), and share of them. Minutes without a call have no row. Since: one day ago by default.';
--> statement-breakpoint
-- Goes by the limits, so that the index on their calls is used.
-- As its owner: readers may not see the hashes of keys that it compares.
CREATE OR REPLACE FUNCTION ferry.limit_use(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  minute timestamptz, account text, operation text, calls integer, allowed integer, share double precision, refused integer
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT date_trunc('minute', c.started), string_agg(DISTINCT c.account, ', ' ORDER BY c.account), l.operation,
    count(*)::integer, max(l.calls_per_minute), count(*)::double precision / max(l.calls_per_minute),
    count(*) FILTER (WHERE c.http_status = 429)::integer
  FROM ferry.platform_limits l
  JOIN ferry.platform_calls c ON c.limit_key = l.limit_key AND c.operation = l.operation
  WHERE c.counted_by >= coalesce($1, now() - interval '1 hour') AND c.started >= coalesce($1, now() - interval '1 hour')
  GROUP BY date_trunc('minute', c.started), l.limit_key, l.operation
  ORDER BY date_trunc('minute', c.started) DESC, l.operation, 2
$$;

COMMENT ON FUNCTION ferry.limit_use IS 'How much of each limit was used, minute by minute, the latest first: minute, account (several, if they share the limit), operation, calls that began in it, allowed (calls in a minute, by the settings of the last worker), share of them, and refused (answered 429). Minutes without a call have no row. Since: one hour ago by default.';
--> statement-breakpoint
-- Counts only. A barrier, so that no function in a condition of the reader sees a row before it is counted.
CREATE OR REPLACE VIEW ferry.rejects_by_reason WITH (security_barrier = true) AS
  SELECT i.id AS import, i.account, i.page_id, i.created_at, r.origin AS rejected_by, r.reason, r.rows
  FROM (
    SELECT import_id, origin, reason, count(*)::integer AS rows FROM ferry.import_rejects GROUP BY import_id, origin, reason
  ) r
  JOIN ferry.imports i ON i.id = r.import_id
  ORDER BY i.id DESC, r.rows DESC, r.origin, r.reason;

COMMENT ON VIEW ferry.rejects_by_reason IS 'How many rows of each import were rejected, by reason, the newest import first. Counts only.';
COMMENT ON COLUMN ferry.rejects_by_reason.import IS 'The import (imports.id).';
COMMENT ON COLUMN ferry.rejects_by_reason.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.rejects_by_reason.page_id IS 'The status page.';
COMMENT ON COLUMN ferry.rejects_by_reason.created_at IS 'When the import began.';
COMMENT ON COLUMN ferry.rejects_by_reason.rejected_by IS 'file: by the check of the file; platform: by the platform.';
COMMENT ON COLUMN ferry.rejects_by_reason.reason IS 'Why, as a code.';
COMMENT ON COLUMN ferry.rejects_by_reason.rows IS 'How many rows.';
--> statement-breakpoint
-- From the counts that are kept while batches are sent, see count_locales.sql: however many recipients there are.
CREATE OR REPLACE VIEW ferry.subscribers_by_page_locale AS
  SELECT i.account, i.page_id, i.method, l.locale, sum(l.sent)::integer AS subscribers
  FROM ferry.import_locales l JOIN ferry.imports i ON i.id = l.import_id
  GROUP BY i.account, i.page_id, i.method, l.locale
  ORDER BY i.account, i.page_id, i.method, subscribers DESC, l.locale;

COMMENT ON VIEW ferry.subscribers_by_page_locale IS 'How many rows the platform accepted for each status page, by locale. Counts only. Who was imported once more, with --update, counts once more.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.page_id IS 'The status page.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.method IS 'How they are notified, such as email.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.locale IS 'The language of what they are sent.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.subscribers IS 'How many.';
--> statement-breakpoint
-- Looks at the complete runs since the last one before `since`. Runs that changed nothing are kept for some time only, so
-- it looks no farther back than that.
-- As its owner: readers may not see the hashes of keys that it compares.
CREATE OR REPLACE FUNCTION ferry.blind_spots(since timestamptz DEFAULT NULL)
RETURNS TABLE (
  account text, inventory text, "from" timestamptz, "to" timestamptz, lasted interval, late_from timestamptz,
  fresh_again_at timestamptz, error_code text
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT i.account, i.inventory, g.at, g.next_at, coalesce(g.next_at, now()) - g.at, g.at + i.promise, g.next_finished_at,
    l.error_code
  FROM (
    SELECT n.account, n.inventory, p.promise, p.folders, s.since, coalesce(
      (SELECT r.id FROM ferry.sync_runs r WHERE r.started_at >= s.since ORDER BY r.started_at LIMIT 1),
      9223372036854775807) AS run_since
    FROM ferry.inventories n
    JOIN ferry.inventory_promises p ON p.account = n.account AND p.resource = n.inventory
    CROSS JOIN LATERAL (
      SELECT greatest(coalesce($1, now() - interval '7 days'), now() - p.runs_kept) AS since
    ) s
    OFFSET 0
  ) i
  CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT c.id, c.at, lead(c.id) OVER w AS next_id, lead(c.at) OVER w AS next_at, lead(c.finished_at) OVER w AS next_finished_at
      FROM (
        SELECT r.id, least(r.started_at, r.finished_at) AS at, r.finished_at FROM ferry.sync_runs r
        WHERE r.account = i.account AND r.resource = i.inventory AND r.status IN ('succeeded', 'held')
          AND r.scope -> 'folders' = i.folders
          AND r.id >= coalesce(
            (SELECT e.id FROM ferry.sync_runs e
             WHERE e.account = i.account AND e.resource = i.inventory AND e.status IN ('succeeded', 'held')
               AND e.scope -> 'folders' = i.folders AND e.id < i.run_since
             ORDER BY e.id DESC LIMIT 1), 0)
      ) c
      WINDOW w AS (ORDER BY c.id)
    ) o
    WHERE coalesce(o.next_finished_at, now()) > greatest(o.at + i.promise, i.since)
  ) g
  LEFT JOIN LATERAL (
    SELECT r.error_code FROM ferry.sync_runs r
    WHERE r.account = i.account AND r.resource = i.inventory AND r.id > g.id AND r.id < coalesce(g.next_id, r.id + 1)
      AND r.status IN ('failed', 'partial')
    ORDER BY r.id DESC LIMIT 1
  ) l ON true
  ORDER BY g.at DESC, i.account, i.inventory
$$;

COMMENT ON FUNCTION ferry.blind_spots IS 'When nothing complete was read for longer than promised, the latest first: account, inventory, from (the last complete listing before it), to (the next one; null if there is none yet), lasted, late_from and fresh_again_at (between them the data was older than promised), error_code (of the last run in it that failed). Since: 7 days ago by default.';
--> statement-breakpoint
-- As its owner: readers may not see the hashes of keys that it compares.
CREATE OR REPLACE FUNCTION ferry.freshness_daily(since timestamptz DEFAULT NULL)
RETURNS TABLE (account text, inventory text, day date, minutes integer, fresh_minutes integer, share double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  WITH late AS MATERIALIZED (
    SELECT b.account, b.inventory, b.late_from, coalesce(b.fresh_again_at, now()) AS fresh_again_at
    FROM ferry.blind_spots(coalesce($1, now() - interval '7 days')) b
  )
  SELECT d.account, d.inventory, d.day, round(d.seconds / 60)::integer, round((d.seconds - o.seconds) / 60)::integer,
    round(((d.seconds - o.seconds) / d.seconds)::numeric, 6)::double precision
  FROM (
    SELECT i.account, i.inventory, n.day::date AS day, b."from", b."to",
      extract(epoch FROM b."to" - b."from")::double precision AS seconds
    FROM ferry.inventories i
    JOIN ferry.inventory_promises p ON p.account = i.account AND p.resource = i.inventory
    -- From the first complete listing on.
    CROSS JOIN LATERAL (
      SELECT r.started_at FROM ferry.sync_runs r
      WHERE r.account = i.account AND r.resource = i.inventory AND r.status IN ('succeeded', 'held')
        AND r.scope -> 'folders' = p.folders
      ORDER BY r.id LIMIT 1
    ) f
    CROSS JOIN LATERAL (
      SELECT greatest(coalesce($1, now() - interval '7 days'), now() - p.runs_kept, f.started_at) AS since
    ) s
    CROSS JOIN LATERAL generate_series(
      date_trunc('day', s.since AT TIME ZONE p.timezone), now() AT TIME ZONE p.timezone, interval '1 day') n (day)
    CROSS JOIN LATERAL (
      SELECT greatest(n.day AT TIME ZONE p.timezone, s.since) AS "from",
        least((n.day + interval '1 day') AT TIME ZONE p.timezone, now()) AS "to"
    ) b
    WHERE b."to" > b."from"
  ) d
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(extract(epoch FROM least(l.fresh_again_at, d."to") - greatest(l.late_from, d."from"))), 0)
      ::double precision AS seconds
    FROM late l
    WHERE l.account = d.account AND l.inventory = d.inventory AND l.late_from < d."to" AND l.fresh_again_at > d."from"
  ) o
  ORDER BY d.day DESC, d.account, d.inventory
$$;

COMMENT ON FUNCTION ferry.freshness_daily IS 'For how much of each day each inventory was as fresh as promised: account, inventory, day (in FERRY_TIMEZONE), minutes that are over, fresh_minutes, and share of them. A day begins with the first complete listing, and today ends now. Since: 7 days ago by default.';

--> statement-breakpoint
COMMENT ON TABLE ferry.import_locales IS 'How many rows of each locale an import has sent. A trigger on import_batches keeps it.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_locales.import_id IS 'The import (imports.id).';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_locales.locale IS 'The locale.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.import_locales.sent IS 'How many rows.';
--> statement-breakpoint
-- What was sent before the trigger was there. It holds a lock on the batches by now, so none changes meanwhile.
INSERT INTO ferry.import_locales (import_id, locale, sent)
  SELECT r.import_id, r.locale, count(*)
  FROM ferry.import_batches b
  JOIN ferry.import_recipients r ON r.import_id = b.import_id AND r.line BETWEEN b.from_line AND b.to_line
  WHERE b.state = 'sent'
  GROUP BY r.import_id, r.locale;
