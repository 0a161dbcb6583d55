COMMENT ON TABLE ferry.schedule_slots IS 'Scheduled work: one row per account, schedule and time, however many workers there are. Kept for 30 days.';
COMMENT ON COLUMN ferry.schedule_slots.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.schedule_slots.schedule IS 'The schedule''s name, as `ferry schedules list` shows it.';
COMMENT ON COLUMN ferry.schedule_slots.slot IS 'The time the work was due at, or a person asked for it.';
COMMENT ON COLUMN ferry.schedule_slots.attempts IS 'How often it was begun. A time that a worker gave it back does not count.';
COMMENT ON COLUMN ferry.schedule_slots.retry_at IS 'When a worker may take it, unless another one has its lease; null once it is settled.';
COMMENT ON COLUMN ferry.schedule_slots.done_at IS 'When it was settled; null while it is due.';
COMMENT ON COLUMN ferry.schedule_slots.outcome IS 'The status of its run, or superseded if a later slot took its place; null while it is due.';
COMMENT ON COLUMN ferry.schedule_slots.manual IS 'True if a person asked for it: it runs even if its schedule is paused, and its time is when they asked.';

COMMENT ON TABLE ferry.schedule_pauses IS 'Schedules that are paused; no row means not paused.';
COMMENT ON COLUMN ferry.schedule_pauses.schedule IS 'The schedule''s name.';
COMMENT ON COLUMN ferry.schedule_pauses.account IS 'The account''s name in Ferry''s configuration.';
COMMENT ON COLUMN ferry.schedule_pauses.paused_at IS 'Since when.';
