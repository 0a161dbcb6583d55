import { callsFor } from '#src/imports/estimate.ts'
import { maskRecipient } from '#src/imports/recipient-text.ts'
import type { ImportSummary } from '#src/model/import.ts'
import { shownColumn } from './file/header.ts'
import type { RejectSample, StagedSample } from './samples.ts'
import { rowsOfKind, type StagedReason } from './staging.ts'
import { type StagedFile, type StagingResult, warningsAbout } from './warnings.ts'

/** A staging as it is shown. Of a person it shows no more than the first letter of an address, and its domain. */
export type StagingReport = {
  /** Null for a dry run. */
  readonly import: bigint | null
  readonly summary: ImportSummary
  readonly file: StagedFile
  readonly reasons: readonly StagedReason[]
  /** Recipients are masked: `a…@example.com`. */
  readonly samples: readonly StagedSample[]
  readonly rejectSamples: readonly RejectSample[]
  /** Warnings for the person who confirms, one sentence or two each. */
  readonly warnings: readonly string[]
}

export function reportOf(result: StagingResult): StagingReport {
  const { id, options, recipients, alreadyImported, file, tally } = result
  const sentBefore = { kind: 'already imported', reason: 'already imported', rows: alreadyImported } as const
  const reasons = alreadyImported > 0 ? [...result.reasons, sentBefore] : result.reasons
  const callsOf = (rows: number) => callsFor(rows, options.batchRows, tally.bytes / Math.max(tally.good, 1))
  const first = Math.min(options.firstRows ?? 0, recipients)
  return {
    import: id,
    summary: {
      import: id,
      account: options.account,
      page: options.pageId,
      status: 'staging',
      read: tally.read,
      sent: 0,
      rejected: rowsOfKind(reasons, 'rejected'),
      duplicate: rowsOfKind(reasons, 'duplicate'),
      suppressed: rowsOfKind(reasons, 'suppressed'),
      alreadyImported,
      uncertain: 0,
      pending: recipients,
      batches: callsOf(first) + callsOf(recipients - first),
      requests: 0,
      durationMs: result.durationMs,
    },
    file: { ...file, unused: file.unused.map(shownColumn) },
    reasons,
    samples: result.samples.map(sample => ({ ...sample, recipient: maskRecipient(sample.recipient) })),
    rejectSamples: result.rejects,
    warnings: warningsAbout(result),
  }
}
