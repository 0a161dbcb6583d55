import { MOST_BYTES } from '#src/store/imports/claims.ts'
import type { Limit } from '#src/store/throttle.ts'

/**
 * Returns how long it takes, from now to the start of the last call, to make `batches` calls under every window of the
 * limit, if nobody else makes any.
 */
export function estimateMs(batches: number, limit: Limit): number {
  const starts = new Float64Array(Math.max(batches, 1))
  for (let call = 1; call < batches; call++) {
    let start = starts[call - 1] ?? 0
    for (const { most, windowMs } of limit.windows) {
      if (call >= most) start = Math.max(start, (starts[call - most] ?? 0) + windowMs)
    }
    starts[call] = start
  }
  return starts.at(-1) ?? 0
}

/** Returns how many bytes a row has in a request, as `ferry.claim_batch` counts them, but letters for bytes. */
export function bytesOfRow(recipient: string, locale: string, componentIds: readonly string[]): number {
  return 64 + recipient.length + locale.length + componentIds.join('","').length
}

/** Returns in how many calls so many rows travel, if all of them have as many bytes as the average of them. */
export function callsFor(rows: number, batchRows: number, bytesARow: number): number {
  const mostRows = Math.max(1, Math.floor(MOST_BYTES / Math.max(bytesARow, 1)))
  return Math.ceil(rows / Math.min(batchRows, mostRows))
}
