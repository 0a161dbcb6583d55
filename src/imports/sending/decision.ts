import type { Refusal, RefusalKind } from '#src/platform/refusal.ts'

/** A batch that was sent without those of its rows that are set aside. */
export type SentBatch = {
  readonly rows: number
  readonly setAside: readonly bigint[]
  /** How many of these are rejects once the rest is accepted; see `PROVES_FAULT`. */
  readonly proven: number
  /** How often it was sent again after an outcome that stayed uncertain. */
  readonly resends: number
  /**
   * The code with which its only row was refused alone before. Since then a call was accepted, or nothing else was left to
   * send and a person resumed the import. Null for any other batch.
   */
  readonly refusedAlone: string | null
}

/** How the platform answered, with what its message says about the rows. */
export type PlatformResponse =
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'refused'
      readonly refusal: Refusal
      /** The lines sent whose recipient the message names. */
      readonly namedLines: readonly bigint[]
      /**
       * Whether the message is about the page, and nothing of a row: a person must check before anything is decided about the
       * row.
       */
      readonly isWrongPage: boolean
    }

/** An import before the answer. */
export type ImportState = {
  /** Whether a batch of uncertain outcome is to be sent again. */
  readonly resend: boolean
  /** Calls the platform accepted. */
  readonly accepted: number
  /** Calls in a row that it refused for what is in them. */
  readonly unaccepted: number
  /** Calls in a row that failed for other reasons. */
  readonly failures: number
  /** Rows in one call at most, if the platform has refused larger ones. */
  readonly maxRows: number | null
  /** More rejects of the platform than this, and a larger share of the rows than `MAX_REJECTED_SHARE`, pause the import. */
  readonly maxRejects: number
  /** Rows sent, and rows rejected by the platform. */
  readonly sent: number
  readonly rejected: number
}

/** The decision about a batch. */
export type Disposition =
  | { readonly to: 'sent' }
  | { readonly to: 'ready'; readonly setAside: readonly bigint[]; readonly resent: boolean }
  | { readonly to: 'split'; readonly resent: boolean }
  | { readonly to: 'uncertain' | 'suspect' | 'rejected' }

/** Why an import is paused. `platform`: its message is the reason. `pause.ts` has the sentences of the others. */
export type PauseCause = 'platform' | 'page' | 'failures' | 'unaccepted' | 'suspects' | 'rejects'

/** The decision about an import. */
export type ImportDecision = Pick<
  ImportState,
  'accepted' | 'unaccepted' | 'failures' | 'maxRows' | 'maxRejects'
> & {
  /** For how long the import backs off at least; null: as long as before. Another call may have been answered meanwhile. */
  readonly retryAfterMs: number | null
  readonly pause: PauseCause | null
}

export type Decision = ImportDecision & { readonly disposition: Disposition }

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

/** Their meaning for the import is clear, also from a gateway; the outcome of the batch is not. */
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
