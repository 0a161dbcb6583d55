-- From the counts that are kept while batches are sent, see count_locales.sql: however many recipients there are.
CREATE OR REPLACE VIEW ferry.subscribers_by_page_locale AS
  SELECT i.account, i.page_id, i.method, l.locale, sum(l.sent)::integer AS subscribers
  FROM ferry.import_locales l JOIN ferry.imports i ON i.id = l.import_id
  GROUP BY i.account, i.page_id, i.method, l.locale
  ORDER BY i.account, i.page_id, i.method, subscribers DESC, l.locale;

COMMENT ON VIEW ferry.subscribers_by_page_locale IS 'How many rows the platform accepted for each status page, by locale. Counts only. A person imported again with --update counts again.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.account IS 'The account, by its name in the settings.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.page_id IS 'The status page.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.method IS 'How they are notified, such as email.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.locale IS 'The language of their notifications.';
COMMENT ON COLUMN ferry.subscribers_by_page_locale.subscribers IS 'How many.';
