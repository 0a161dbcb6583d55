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
