import type { Operation } from '#src/model/call.ts'

/** At most `max` calls in any rolling `windowMs`. */
export type Window = { readonly max: number; readonly windowMs: number }

export type Limits = Readonly<Record<Operation, readonly Window[]>>

const LIST_WINDOWS = [
  { max: 50, windowMs: 1_000 },
  { max: 1_000, windowMs: 60_000 },
]

/** Section 8 of the contract. */
export const CONTRACT_LIMITS: Limits = {
  'list-alert-rules': LIST_WINDOWS,
  'list-mcp-servers': LIST_WINDOWS,
  'import-subscribers': [
    { max: 2, windowMs: 1_000 },
    { max: 20, windowMs: 60_000 },
  ],
}

export const NO_LIMITS: Limits = { 'list-alert-rules': [], 'list-mcp-servers': [], 'import-subscribers': [] }

export type Admission =
  | { readonly admitted: true }
  /** `freeInMs`: the time until a next call would be admitted, if no other call comes first. */
  | { readonly admitted: false; readonly freeInMs: number }

/**
 * Counts calls in rolling windows, exactly: a call is admitted if no window that ends now then holds more than its
 * maximum.
 */
export class RollingLimits {
  readonly #countedAt = new Map<string, number[]>()

  count(bucket: string, windows: readonly Window[], nowMs: number, countRefused: boolean): Admission {
    const longestMs = Math.max(0, ...windows.map(window => window.windowMs))
    const times = (this.#countedAt.get(bucket) ?? []).filter(time => time > nowMs - longestMs)
    this.#countedAt.set(bucket, times)
    const freeInMs = Math.max(0, ...windows.map(window => waitMs(times, window, nowMs)))
    if (freeInMs === 0 || countRefused) times.push(nowMs)
    return freeInMs === 0 ? { admitted: true } : { admitted: false, freeInMs }
  }
}

/** The time until `window` admits one more call. `times` ascend. */
function waitMs(times: readonly number[], { max, windowMs }: Window, nowMs: number): number {
  const leaves = times[times.length - max]
  return leaves === undefined ? 0 : Math.max(0, windowMs - (nowMs - leaves))
}
