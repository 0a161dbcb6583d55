import type { SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import {
  ACTIONS,
  MAX_ACTOR_CHARACTERS,
  MAX_BECAUSE_CHARACTERS,
  SUBJECT_KINDS,
  type SubjectKind,
} from '#src/model/act.ts'
import { DATABASE_CAUSES } from '#src/model/database-change.ts'
import { EVENT_KINDS, EVENT_STATES, type EventKind } from '#src/model/event.ts'
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  jsonb,
  pgSchema,
  primaryKey,
  sql,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from './drizzle.ts'
import { wordsInSql } from './words-in-sql.ts'

/*
 * The schema `ferry` and the tables of this room. The tables of a domain stand in the `schema.ts` of its room.
 *
 * Columns that carry a field of the platform bear the contract's name for it. What each table and column means is said
 * once, in the database's own COMMENTs; `docs/schema.md` is checked against them.
 */
export const ferry = pgSchema('ferry')

/** The whole range of uint64: numeric(20,0) in Postgres, bigint in TypeScript. */
export const uint64 = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'numeric(20, 0)',
  fromDriver: value => BigInt(value),
  toDriver: value => value.toString(),
})
/** Text that keys and indexes have. Sorted by bytes, whatever the database's locale is: another version of that may sort otherwise. */
export const keyText = <T extends string = string>(name: string) => byteText(name).$type<T>()
const byteText = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' })
export const int64 = (name: string) => bigint(name, { mode: 'bigint' })
export const instant = (name: string) => timestamp(name, { withTimezone: true })
export const identity = () => int64('id').primaryKey().generatedAlwaysAsIdentity()
export const count = (name: string) => integer(name).notNull().default(0)

/** The condition of a CHECK that a column has one of these values. Null passes. */
export function isOneOf(column: AnyPgColumn, values: readonly string[]): SQL {
  return sql`${column} in (${sql.raw(wordsInSql(values))})`
}

export const installation = ferry.table(
  'installation',
  {
    only: boolean('only').primaryKey().default(true),
    id: uuid('id').notNull().defaultRandom(),
    created_at: instant('created_at').notNull().defaultNow(),
  },
  t => [check('installation_has_one_row', sql`${t.only}`)],
)

export const knownDatabase = ferry.table(
  'known_database',
  {
    only: boolean('only').primaryKey().default(true),
    system_identifier: text('system_identifier'),
    timeline: text('timeline'),
    database_oid: int64('database_oid').notNull(),
    /** The transaction that wrote this row, as xmin has it. */
    written_by: text('written_by').notNull(),
    seen_at: instant('seen_at').notNull().default(sql`clock_timestamp()`),
  },
  t => [check('known_database_has_one_row', sql`${t.only}`)],
)

export const databaseChanges = ferry.table(
  'database_changes',
  {
    id: identity(),
    noticed_at: instant('noticed_at').notNull().default(sql`clock_timestamp()`),
    cause: text('cause', { enum: DATABASE_CAUSES }).notNull(),
    missing_since: instant('missing_since'),
    known: jsonb('known').notNull(),
    found: jsonb('found').notNull(),
    held_imports: count('held_imports'),
  },
  t => [check('database_changes_cause', isOneOf(t.cause, DATABASE_CAUSES))],
)

export const platformLimits = ferry.table(
  'platform_limits',
  {
    id: int64('id').notNull().unique().generatedAlwaysAsIdentity(),
    limit_key: keyText('limit_key').notNull(),
    operation: keyText('operation').notNull(),
    blocked_until: instant('blocked_until'),
    blocked_by: int64('blocked_by'),
    strikes: count('strikes'),
    calls_per_minute: integer('calls_per_minute'),
  },
  t => [primaryKey({ columns: [t.limit_key, t.operation] })],
)

export const platformCalls = ferry.table(
  'platform_calls',
  {
    id: identity(),
    limit_key: keyText('limit_key').notNull(),
    account: text('account').notNull(),
    operation: keyText('operation').notNull(),
    started: instant('started').notNull(),
    counted_by: instant('counted_by').notNull(),
    finished: instant('finished'),
    http_status: integer('http_status'),
    error_code: text('error_code'),
    request_id: keyText('request_id'),
    run_id: int64('run_id'),
    batch_id: int64('batch_id'),
  },
  t => [
    index('platform_calls_in_window').on(t.limit_key, t.operation, t.counted_by),
    index('platform_calls_refused').on(t.started).where(sql`${t.error_code} is not null`),
    index('platform_calls_by_run').on(t.run_id),
    // For the search for one call that the platform's support asks about. Half as large as a tree, and as quick.
    index('platform_calls_by_request').using('hash', t.request_id).where(sql`${t.request_id} is not null`),
    index('platform_calls_by_batch').on(t.batch_id).where(sql`${t.batch_id} is not null`),
  ],
)

export const leases = ferry.table('leases', {
  name: keyText('name').primaryKey(),
  token: uuid('token').notNull(),
  holder: text('holder').notNull(),
  acquired_at: instant('acquired_at').notNull(),
  expires_at: instant('expires_at').notNull(),
})

export const backfills = ferry.table('backfills', {
  name: keyText('name').primaryKey(),
  position: text('position'),
  batches: integer('batches').notNull().default(1),
  began_at: instant('began_at').notNull().default(sql`clock_timestamp()`),
  changed_at: instant('changed_at').notNull().default(sql`clock_timestamp()`),
  finished_at: instant('finished_at'),
})

export const workers = ferry.table('workers', {
  holder: keyText('holder').primaryKey(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  version: text('version'),
  accounts: text('accounts').array().notNull(),
  started_at: instant('started_at').notNull(),
  seen_at: instant('seen_at').notNull(),
})

export const audit = ferry.table(
  'audit',
  {
    id: identity(),
    at: instant('at').notNull().default(sql`clock_timestamp()`),
    account: text('account').notNull(),
    actor: text('actor').notNull(),
    action: text('action', { enum: ACTIONS }).notNull(),
    subject_kind: keyText<SubjectKind>('subject_kind').notNull(),
    subject_id: keyText('subject_id').notNull(),
    because: text('because'),
    rows: integer('rows'),
    of_rows: integer('of_rows'),
  },
  t => [
    index('audit_by_time').on(t.at),
    index('audit_by_subject').on(t.subject_kind, t.subject_id),
    check('audit_action', isOneOf(t.action, ACTIONS)),
    check('audit_subject_kind', isOneOf(t.subject_kind, SUBJECT_KINDS)),
    check('audit_actor', sql`char_length(${t.actor}) <= ${sql.raw(`${MAX_ACTOR_CHARACTERS}`)}`),
    check('audit_because', sql`char_length(${t.because}) <= ${sql.raw(`${MAX_BECAUSE_CHARACTERS}`)}`),
  ],
)

export const events = ferry.table(
  'events',
  {
    id: identity(),
    message_id: uuid('message_id').notNull().defaultRandom(),
    kind: keyText<EventKind>('kind').notNull(),
    state: text('state', { enum: EVENT_STATES }).notNull(),
    account: keyText('account').notNull(),
    subject: keyText('subject').notNull(),
    data: jsonb('data').notNull(),
    at: instant('at').notNull().default(sql`clock_timestamp()`),
    is_open: boolean('is_open').notNull().default(false),
    routed_at: instant('routed_at'),
  },
  t => [
    uniqueIndex('events_open').on(t.kind, t.account, t.subject).where(sql`${t.is_open}`),
    index('events_of_subject').on(t.kind, t.account, t.subject, t.id),
    index('events_unrouted').on(t.at, t.id).where(sql`${t.routed_at} is null`),
    check('events_kind', isOneOf(t.kind, EVENT_KINDS)),
    check('events_state', isOneOf(t.state, EVENT_STATES)),
  ],
)

export const receivers = ferry.table('receivers', {
  name: keyText('name').primaryKey(),
  after_event: int64('after_event').notNull(),
  known_since: instant('known_since').notNull().default(sql`clock_timestamp()`),
})

export const deliveries = ferry.table(
  'deliveries',
  {
    event: int64('event')
      .notNull()
      .references(() => events.id, { onDelete: 'cascade' }),
    receiver: keyText('receiver').notNull(),
    kind: keyText<EventKind>('kind').notNull(),
    account: keyText('account').notNull(),
    subject: keyText('subject').notNull(),
    data: jsonb('data').notNull(),
    at: instant('at').notNull(),
    attempts: count('attempts'),
    retry_at: instant('retry_at'),
    delivered_at: instant('delivered_at'),
    http_status: integer('http_status'),
    failure: text('failure'),
  },
  t => [
    primaryKey({ columns: [t.event, t.receiver] }),
    index('deliveries_waiting').on(t.receiver, t.at, t.event).where(sql`${t.delivered_at} is null`),
    // The messages about one subject, of which one waits for the other, and those that are sent again.
    index('deliveries_waiting_of_subject')
      .on(t.receiver, t.kind, t.account, t.subject, t.event)
      .where(sql`${t.delivered_at} is null`),
    index('deliveries_by_retry')
      .on(t.receiver, t.retry_at)
      .where(sql`${t.delivered_at} is null and ${t.retry_at} is not null`),
    check('deliveries_kind', isOneOf(t.kind, EVENT_KINDS)),
  ],
)
