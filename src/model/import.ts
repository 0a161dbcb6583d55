/**
 * Where an import stands.
 *
 *     staging ──► queued ──► running ──► completed
 *        │          ▲  ▲      │  ▲  └──► undecided   some rows may have been sent, and a person is to say
 *        │          │  └──────▼  │          │        (`imports resolve`): running again, or completed
 *        └──────────┴──── paused, from any but the last two ──► cancelled
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

/** What happens to a batch of which nobody knows whether the platform took it. */
export type OnUncertain = 'resend' | 'hold'

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
  /** In a batch whose outcome is not known: in flight without an answer, or held for a person. */
  readonly uncertain: number
  readonly pending: number
}

/** What `import` prints as its last line and `imports show` as its first, with these keys. */
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

/** What of `read` the other counts do not account for; anything but 0 is an error to be reported. */
export function missingOf(counts: ImportCounts): number {
  const { read, sent, rejected, duplicate, suppressed, alreadyImported, uncertain, pending } = counts
  return read - (sent + rejected + duplicate + suppressed + alreadyImported + uncertain + pending)
}
