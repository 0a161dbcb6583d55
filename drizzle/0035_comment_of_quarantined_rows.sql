COMMENT ON COLUMN ferry.quarantined_rows.raw IS 'The row as delivered, declared fields only; null if it is no object, is longer than 1 MiB, or repeats a row of another folder.';
