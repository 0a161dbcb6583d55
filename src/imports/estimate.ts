import { duration } from '#src/model/duration.ts'
import type { Limit } from '#src/model/limit.ts'

/**
 * Bytes of JSON in one request, about: a megabyte, since that is what nginx lets through unless told otherwise. A row of
 * the usual size has 100 bytes, so what bounds a batch is nearly always its number of rows.
 */
export const MAX_BATCH_BYTES = 1_000_000

/**
 * Returns how long it takes, from now to the start of the last call, to make `batches` calls under every window of the
 * limit, if nobody else makes any.
 */
export function estimateMs(batches: number, limit: Limit): number {
  const starts = new Float64Array(Math.max(batches, 1))
  for (let call = 1; call < batches; call++) {
    let start = starts[call - 1] ?? 0
    for (const { maxCalls, windowMs } of limit.windows) {
      if (call >= maxCalls) start = Math.max(start, (starts[call - maxCalls] ?? 0) + windowMs)
    }
    starts[call] = start
  }
  return starts.at(-1) ?? 0
}

/** Returns such a time for people. */
export function estimateInWords(ms: number): string {
  return ms === 0 ? 'at once' : `about ${duration(ms)} at the rate limit`
}

/** The names of JSON's members and its punctuation, for each row of a request. */
export const ROW_OVERHEAD_BYTES = 64

/** Returns about how many bytes a row has in a request. `ferry_internal.claim_next_batch` counts bytes, this one characters. */
export function bytesOfRow(recipient: string, locale: string, componentIds: readonly string[]): number {
  return ROW_OVERHEAD_BYTES + recipient.length + locale.length + componentIds.join('","').length
}

/** Returns how many calls the rows need, if each has the average number of bytes. */
export function callsFor(rows: number, batchRows: number, bytesARow: number): number {
  const maxRows = Math.max(1, Math.floor(MAX_BATCH_BYTES / Math.max(bytesARow, 1)))
  return Math.ceil(rows / Math.min(batchRows, maxRows))
}
