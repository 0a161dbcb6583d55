import type { Refusal, RefusalKind } from '#src/platform/refusal.ts'

/**
 * What a refusal says about a batch:
 *
 *   for-now     refused for certain; the same call may succeed later
 *   uncertain   the platform may have done what was asked
 *   too-large   fewer rows may be accepted
 *   rows        the fault may be in a row
 *   import      the fault is in what all rows have in common: a person is to look
 */
export type BatchRefusal = 'for-now' | 'uncertain' | 'too-large' | 'rows' | 'import'

const BATCH_REFUSALS: Partial<Record<RefusalKind, BatchRefusal>> = {
  order: 'for-now',
  locked: 'for-now',
  'too-frequent': 'for-now',
  unavailable: 'for-now',
  'not-sent': 'for-now',
  'too-large': 'too-large',
  'invalid-request': 'rows',
}

/** The code decides, unless the status says that the work was done or may have been. */
export function batchRefusalOf({ kind, certain, httpStatus }: Refusal): BatchRefusal {
  const isSuccess = httpStatus !== null && httpStatus < 300
  const isServerError = httpStatus !== null && httpStatus >= 500 && httpStatus !== 503
  if (!certain || isSuccess || isServerError) return 'uncertain'
  return BATCH_REFUSALS[kind] ?? 'import'
}
