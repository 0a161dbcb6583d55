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
export type LeftOutKind = (typeof LEFT_OUT_KINDS)[number]

/** Who rejected a row: Ferry's own checks of the file, or the platform. */
export const REJECT_ORIGINS = ['file', 'platform'] as const
export type RejectOrigin = (typeof REJECT_ORIGINS)[number]

/** The code of the pause after the first rows (`--first`): whoever resumes the import approves the rest. */
export const FIRST_ROWS_SENT = 'FirstRowsSent'

/** The code of the pause after the platform rejected too many rows. */
export const TOO_MANY_REJECTS = 'TooManyRejects'
