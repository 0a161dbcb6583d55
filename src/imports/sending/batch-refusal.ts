import type { Refusal, RefusalKind } from '#src/platform/refusal.ts'

/**
 * The meaning of a refusal for a batch:
 *
 *   for-now     refused for certain; the same call may succeed later
 *   uncertain   the platform may have done what was asked
 *   too-large   fewer rows may be accepted
 *   rows        the fault may be in a row
 *   import      the fault is in what all rows have in common: a person must check
 */
export type BatchRefusal = 'for-now' | 'uncertain' | 'too-large' | 'rows' | 'import'

const OF_CERTAIN: Partial<Record<RefusalKind, BatchRefusal>> = {
  order: 'for-now',
  locked: 'for-now',
  'too-frequent': 'for-now',
  unavailable: 'for-now',
  'not-sent': 'for-now',
  'too-large': 'too-large',
  'invalid-request': 'rows',
}

/** Their meaning for the import is clear whoever answered; the outcome of the batch is not. */
const OF_UNCERTAIN: Partial<Record<RefusalKind, BatchRefusal>> = {
  'too-large': 'too-large',
  unauthorized: 'import',
  'access-denied': 'import',
  balance: 'import',
  'no-route': 'import',
  'no-license': 'import',
  'content-type': 'import',
  verify: 'import',
  'proxy-auth': 'import',
  redirected: 'import',
}

/**
 * Returns the meaning of a refusal. If it is not certain, the batch may still arrive: then `too-large` and `import` apply to
 * the import, while the batch is uncertain. With a 2xx or 5xx the code contradicts the status, so neither counts.
 */
export function batchRefusalOf({ kind, certain, httpStatus }: Refusal): BatchRefusal {
  if (certain) return OF_CERTAIN[kind] ?? 'import'
  const isContradictory = httpStatus !== null && (httpStatus < 300 || httpStatus >= 500)
  return (isContradictory ? undefined : OF_UNCERTAIN[kind]) ?? 'uncertain'
}
