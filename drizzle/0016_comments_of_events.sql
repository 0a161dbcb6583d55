COMMENT ON TABLE ferry.events IS 'What was told to whoever is on call, or is to be told: one row a message. A row is written in the transaction that makes it true.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.id IS 'Messages are sent in this order.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.message_id IS 'Part of the id of the message. It is the same each time the message is sent, so that a receiver can leave out repetitions.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.kind IS 'What happened, such as removals.held.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.state IS 'raised: it began or happened; resolved: it is over.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.account IS 'The account of Ferry''s configuration it is about.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.subject IS 'What it is about within the account: an inventory or the id of an import; empty for the account itself.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.data IS 'What else the message tells. It holds no recipient and no key.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.at IS 'When it was written.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.is_open IS 'True from when it is raised until it is resolved. At most one event of a kind is open for an account and subject.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.attempts IS 'How often it was sent to a receiver. 0 after a day: no receiver was set.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.retry_at IS 'When it is sent again, after it was not accepted.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.delivered_at IS 'When the receiver accepted it. Null a day after it was written: it is not sent any more.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.http_status IS 'What the receiver answered last; null without an answer.';
--> statement-breakpoint
COMMENT ON COLUMN ferry.events.failure IS 'Why it was not accepted the last time.';
