/**
 * How a batch stands, and the recipients in it. `schema.ts` has a diagram.
 *
 * - `suspect`: one recipient whom the platform refused alone; it is sent alone once more before it is rejected.
 * - `left out`: another import has sent all its recipients meanwhile.
 * - `split`: smaller batches took its place.
 */
export const BATCH_STATES = [
  'ready',
  'in flight',
  'sent',
  'uncertain',
  'suspect',
  'rejected',
  'left out',
  'split',
] as const
export type BatchState = (typeof BATCH_STATES)[number]

/** Why a row of the file is neither a recipient nor a reject. */
export const LEFT_OUT_KINDS = ['duplicate', 'suppressed', 'already imported'] as const

/** The origin of a reject: Ferry's own checks of the file, or the platform. */
export const REJECT_ORIGINS = ['file', 'platform'] as const

/** The code of the pause after the first rows (`--first`): to resume the import is to approve the rest. */
export const FIRST_ROWS_SENT = 'FirstRowsSent'

/** The code of the pause of an import whose database is not the one that Ferry knew. */
export const DATABASE_CHANGED = 'DatabaseChanged'

/** The code of the pause after the platform rejected too many rows. */
export const TOO_MANY_REJECTS = 'TooManyRejects'

/** The message of a batch of which a person found out that the platform has it. */
export const RESOLVED_AS_SENT = 'resolved as sent by a person'

/*
 * The SQL functions of `sql/` about a batch `b`, for queries of every room of imports.
 */

/** In SQL, whether the claim of batch `b` has expired, and nobody has recorded that yet. */
export const IS_CLAIM_EXPIRED = 'ferry_internal.is_expired_claim(b.state, b.claim_ends_at, now())'

const IS_COUNTED = 'ferry_internal.is_uncertain_batch(b.state, b.uncertain)'

/** In SQL, whether batch `b` is uncertain: the platform may have taken it. */
export const IS_UNCERTAIN = `(${IS_COUNTED} or ${IS_CLAIM_EXPIRED})`

/** In SQL, whether batch `b` is uncertain and not counted in `imports.uncertain` yet, since its claim was not reclaimed. */
export const IS_NOT_COUNTED_YET = `(${IS_CLAIM_EXPIRED} and not ${IS_COUNTED})`

/** In SQL, whether a person may decide about batch `b`: it is uncertain, and no call of it may still be under way. */
export const IS_DECIDABLE = `(${IS_UNCERTAIN} and (b.state <> 'in flight' or ${IS_CLAIM_EXPIRED}))`

/** In SQL, the calls `c` that batch `b` was in, with those of the batches that it was split from, as a `from`. */
export const CALLS_OF_SOURCES = `(
  with recursive source as (
    select b.id, b.parent_id
    union all
    select p.id, p.parent_id from source s join ferry.import_batches p on p.id = s.parent_id)
  select c.id from source s join ferry.platform_calls c on c.batch_id = s.id) c`

/** In SQL, whether the recipients of batch `b` are still to be sent. */
export const IS_OPEN = 'ferry_internal.is_open_batch(b.state)'
