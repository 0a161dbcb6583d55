import type { Refusal, RefusalKind } from '#src/platform/refusal.ts'

/**
 * What a refusal says about a batch:
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

/** What these mean for the import is clear whoever answered, though not what became of the batch. */
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
 * What a refusal says. One that is not certain may be followed by the batch's arrival: `too-large` and `import` then say what
 * becomes of the import, while the batch is uncertain. With a 2xx or 5xx the code contradicts the status, so neither counts.
 */
export function batchRefusalOf({ kind, certain, httpStatus }: Refusal): BatchRefusal {
  if (certain) return OF_CERTAIN[kind] ?? 'import'
  const isContradictory = httpStatus !== null && (httpStatus < 300 || httpStatus >= 500)
  return (isContradictory ? undefined : OF_UNCERTAIN[kind]) ?? 'uncertain'
}
