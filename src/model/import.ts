/**
 * Where an import stands. `npm run docs` writes this list from `import-moves.ts`:
 *
 *     staging   ──► queued     confirm if rows are left
 *     staging   ──► completed  confirm if nothing is left
 *     staging   ──► cancelled  cancel
 *     queued    ──► running    start
 *     queued    ──► paused     pause, stop
 *     queued    ──► cancelled  cancel
 *     running   ──► paused     pause, stop, exhaust if rows are left
 *     running   ──► undecided  exhaust if uncertain rows are left
 *     running   ──► completed  exhaust if nothing is left
 *     running   ──► cancelled  cancel
 *     paused    ──► queued     resume
 *     paused    ──► cancelled  cancel
 *     undecided ──► queued     resolve if rows are left
 *     undecided ──► completed  resolve if nothing is left
 *     undecided ──► cancelled  cancel
 */
export const IMPORT_STATUSES = [
  'staging',
  'queued',
  'running',
  'paused',
  'undecided',
  'completed',
  'cancelled',
] as const
export type ImportStatus = (typeof IMPORT_STATUSES)[number]

/** A worker sends its rows, or will as soon as it can. */
export const ACTIVE_STATUSES: readonly ImportStatus[] = ['queued', 'running']

/** Nothing of it will be sent any more, whatever a person decides. */
export const ENDED_STATUSES: readonly ImportStatus[] = ['completed', 'cancelled']

export function isActive(status: ImportStatus): boolean {
  return ACTIVE_STATUSES.includes(status)
}

export function isEnded(status: ImportStatus): boolean {
  return ENDED_STATUSES.includes(status)
}

/** The handling of an uncertain batch: one that the platform may have taken. */
export const ON_UNCERTAIN = ['resend', 'hold'] as const
export type OnUncertain = (typeof ON_UNCERTAIN)[number]

/**
 * An import in numbers of rows. At every moment, after any crash,
 * `read` = sent + rejected + duplicate + suppressed + alreadyImported + uncertain + pending.
 */
export type ImportCounts = {
  readonly read: number
  readonly sent: number
  readonly rejected: number
  readonly duplicate: number
  readonly suppressed: number
  readonly alreadyImported: number
  /** In a batch whose outcome is unknown: in flight without an answer, or held for a person. */
  readonly uncertain: number
  readonly pending: number
}

/** The last line of `import` and the first of `imports show`, with these keys. */
export type ImportSummary = ImportCounts & {
  /** Null for a dry run. */
  readonly import: bigint | null
  readonly account: string
  readonly page: bigint
  readonly status: ImportStatus
  readonly batches: number
  readonly requests: number
  readonly durationMs: number
}

/** How many rows of an import the platform is to have in the end: those sent, and those still to be. */
export function toBeSent({ sent, uncertain, pending }: ImportCounts): number {
  return sent + uncertain + pending
}

/** The part of `read` that the other counts do not account for; anything but 0 is an error to be reported. */
export function missingOf(counts: ImportCounts): number {
  const { read, sent, rejected, duplicate, suppressed, alreadyImported, uncertain, pending } = counts
  return read - (sent + rejected + duplicate + suppressed + alreadyImported + uncertain + pending)
}
