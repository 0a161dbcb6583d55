import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  primaryKey,
  sql,
  text,
  uniqueIndex,
  uuid,
} from '#src/db/drizzle.ts'
import { count, ferry, identity, instant, int64, isOneOf, keyText, uint64 } from '#src/db/schema.ts'
import { IMPORT_STATUSES, ON_UNCERTAIN } from '#src/model/import.ts'
import { BATCH_STATES, type BatchState, LEFT_OUT_KINDS, REJECT_ORIGINS } from './states.ts'

/*
 * The tables of imports. Every row read from a file is in exactly one of three: `import_recipients` (to be sent),
 * `import_rejects` or `import_left_out`; its number is that of its first line in the file.
 *
 * A batch is a range of lines, and carries the state of the recipients in it, who are never rewritten:
 *
 *     ready ──► in flight ──► sent
 *       ▲           │
 *       │           ├──► ready      refused for certain, or uncertain and to be resent
 *       │           ├──► uncertain  held for a person
 *       ├───────────┼──► suspect    one row refused alone: sent alone once more, later
 *       ├───────────│──► left out   another import has sent all its rows meanwhile
 *       │           ├──► rejected   all its rows are among the rejects
 *       └───────────┴──► split      two smaller batches took its place
 */

export const imports = ferry.table(
  'imports',
  {
    id: identity(),
    account: keyText('account').notNull(),
    page_id: uint64('page_id').notNull(),
    method: keyText('method').notNull(),
    status: text('status', { enum: IMPORT_STATUSES }).notNull(),
    file: text('file').notNull(),
    columns: text('columns').array(),
    options: jsonb('options').notNull(),
    on_uncertain: text('on_uncertain', { enum: ON_UNCERTAIN }).notNull(),
    update_existing: boolean('update_existing').notNull(),
    batch_rows: integer('batch_rows').notNull(),
    /** Pause once this many rows have been sent. */
    first_rows: integer('first_rows'),
    created_at: instant('created_at').notNull().default(sql`clock_timestamp()`),
    staged_at: instant('staged_at'),
    confirmed_at: instant('confirmed_at'),
    /** When already imported rows had been left out: the work began. */
    started_at: instant('started_at'),
    finished_at: instant('finished_at'),
    /** Since when it waits for a person, and for how long it has before. */
    rests_since: instant('rests_since'),
    rested_ms: int64('rested_ms').notNull().default(sql`0`),
    purged_at: instant('purged_at'),
    read: count('read'),
    /** How many rows are in `import_recipients`. */
    recipients: count('recipients'),
    // Running counts of rows: what moves rows keeps them in the same transaction. Those of batches are kept by a trigger.
    rejected: count('rejected'),
    rejected_by_platform: count('rejected_by_platform'),
    duplicate: count('duplicate'),
    suppressed: count('suppressed'),
    already_imported: count('already_imported'),
    sent: count('sent'),
    /** Does not count batches whose claim has expired and was not reclaimed yet. */
    uncertain: count('uncertain'),
    /** Batches that are not split, and the rows in them. */
    batches: count('batches'),
    batched: count('batched'),
    /** Calls made for its batches. */
    requests: count('requests'),
    last_line: int64('last_line').notNull().default(sql`0`),
    /** Up to this line batches have been made. */
    batched_to: int64('batched_to').notNull().default(sql`0`),
    /** Learned from a 413. */
    max_rows: integer('max_rows'),
    /**
     * Up to this call (`platform_calls.id`) it has left out what other imports of the page had sent. An id, because the clock
     * may be set back; see `sending/start.ts`.
     */
    excluded_to_call: int64('excluded_to_call'),
    /** Up to which call the current exclusion looks. Null if none is running, or if what it looks at has changed since. */
    excluding_to_call: int64('excluding_to_call'),
    /** Calls the platform accepted. */
    accepted: count('accepted'),
    /** Calls in a row that it refused for what is in them. */
    unaccepted: count('unaccepted'),
    /** Calls in a row that failed for other reasons. */
    failures: count('failures'),
    retry_at: instant('retry_at'),
    /**
     * More rows rejected by the platform than this, and a larger share than `MAX_REJECTED_SHARE`, pause it. 0 until it
     * is confirmed (`FIRST_MAX_REJECTS`), raised by `sending/decide.ts`.
     */
    max_rejects: count('max_rejects'),
    /** When it last had to wait for a permit, and when it last got one. */
    wants_at: instant('wants_at'),
    /** The limit it waited for: imports of several accounts may share one. */
    wants_limit: text('wants_limit'),
    served_at: instant('served_at'),
    pause_code: text('pause_code'),
    pause_request_id: text('pause_request_id'),
    pause_message: text('pause_message'),
    pause_what_to_do: text('pause_what_to_do'),
  },
  t => [
    index('imports_by_page').on(t.account, t.page_id, t.method, t.id),
    index('imports_unfinished').on(t.id).where(sql`${t.finished_at} is null`),
    check('imports_status', isOneOf(t.status, IMPORT_STATUSES)),
    check('imports_on_uncertain', isOneOf(t.on_uncertain, ON_UNCERTAIN)),
  ],
)

export const importRecipients = ferry.table(
  'import_recipients',
  {
    import_id: int64('import_id').notNull(),
    line: int64('line').notNull(),
    recipient_hash: uuid('recipient_hash').notNull(),
    all: boolean('all').notNull(),
    component_ids: text('component_ids').array(),
    locale: text('locale').notNull(),
    recipient: text('recipient'),
    raw: text('raw'),
    /** How often other imports may have sent the row's recipient to the page, before this one did. */
    maybe_sent: integer('maybe_sent'),
  },
  t => [primaryKey({ columns: [t.import_id, t.line] })],
)

export const importRejects = ferry.table(
  'import_rejects',
  {
    import_id: int64('import_id').notNull(),
    line: int64('line').notNull(),
    origin: text('origin', { enum: REJECT_ORIGINS }).notNull(),
    reason: text('reason').notNull(),
    column: text('column'),
    message: text('message').notNull(),
    recipient_hash: uuid('recipient_hash'),
    batch_id: int64('batch_id'),
    error_code: text('error_code'),
    request_id: text('request_id'),
    raw: text('raw'),
  },
  t => [
    primaryKey({ columns: [t.import_id, t.line] }),
    check('import_rejects_origin', isOneOf(t.origin, REJECT_ORIGINS)),
  ],
)

export const importLeftOut = ferry.table(
  'import_left_out',
  {
    import_id: int64('import_id').notNull(),
    line: int64('line').notNull(),
    kind: text('kind', { enum: LEFT_OUT_KINDS }).notNull(),
    reason: text('reason').notNull(),
    recipient_hash: uuid('recipient_hash'),
    kept_line: int64('kept_line'),
    earlier_import: int64('earlier_import'),
    recipient: text('recipient'),
  },
  t => [
    primaryKey({ columns: [t.import_id, t.line] }),
    check('import_left_out_kind', isOneOf(t.kind, LEFT_OUT_KINDS)),
  ],
)

export const importBatches = ferry.table(
  'import_batches',
  {
    id: identity(),
    import_id: int64('import_id').notNull(),
    /** The batch whose place it took, with another, when that was split. */
    parent_id: int64('parent_id'),
    from_line: int64('from_line').notNull(),
    to_line: int64('to_line').notNull(),
    /** How many recipients are in the range, those set aside included. */
    rows: integer('rows').notNull(),
    /** Lines the platform named: sent without them, and rejects if the rest is accepted. */
    set_aside: bigint('set_aside', { mode: 'bigint' }).array().notNull().default(sql`'{}'`),
    /** The platform's answers about lines set aside or suspect: code, message and request_id by line. */
    reasons: jsonb('reasons').notNull().default({}),
    state: keyText<BatchState>('state').notNull(),
    /** How often it was sent again after an outcome that stayed uncertain, its parents' times included. */
    resends: count('resends'),
    /** An uncertain outcome has not been followed by a certain one yet. */
    uncertain: boolean('uncertain').notNull().default(false),
    claim: uuid('claim'),
    claimed_at: instant('claimed_at'),
    /** From when on a claim whose worker is silent counts as uncertain. */
    claim_ends_at: instant('claim_ends_at'),
    call_id: int64('call_id'),
    sent_at: instant('sent_at'),
    http_status: integer('http_status'),
    error_code: text('error_code'),
    request_id: text('request_id'),
    message: text('message'),
  },
  t => [
    index('import_batches_by_range').on(t.import_id, t.from_line),
    index('import_batches_open').on(t.import_id, t.state).where(sql`${t.state} not in ('sent', 'split')`),
    index('import_batches_in_flight').on(t.claim_ends_at).where(sql`${t.state} = 'in flight'`),
    // What is claimed next, however many are ready.
    index('import_batches_ready').on(t.import_id, t.rows, t.from_line).where(sql`${t.state} = 'ready'`),
    index('import_batches_sent').on(t.import_id, t.sent_at).where(sql`${t.state} = 'sent'`),
    index('import_batches_failed').on(t.import_id, t.claimed_at).where(sql`${t.error_code} is not null`),
    uniqueIndex('import_batches_claim').on(t.claim).where(sql`${t.claim} is not null`),
    check('import_batches_state', isOneOf(t.state, BATCH_STATES)),
    check('import_batches_range', sql`${t.to_line} >= ${t.from_line}`),
  ],
)

/** How many rows of each locale were sent; a trigger keeps it (`sending/sql/count_locales.sql`). */
export const importLocales = ferry.table(
  'import_locales',
  {
    import_id: int64('import_id').notNull(),
    locale: keyText('locale').notNull(),
    sent: integer('sent').notNull(),
  },
  t => [primaryKey({ columns: [t.import_id, t.locale] })],
)
