/**
 * In SQL, which rows of `pg_locks` are about the versions of alert rules in this database. Tables of other databases, copies of
 * one template, have the same oid.
 */
export const ON_VERSIONS = `relation = 'ferry.alert_rule_versions'::regclass
  and database = (select oid from pg_database where datname = current_database())`

/** Selects a row for each connection to this database that waits for a lock. */
export const WAITING_FOR_LOCK = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
