/** At most `maxCalls` calls in any rolling window of `windowMs`. */
export type LimitWindow = { readonly maxCalls: number; readonly windowMs: number }

/**
 * For this part of the arrival bound a permit may be used, from the moment it was asked for: 1 s of 5 s. The rest is for the
 * request to be written and to arrive.
 */
export const PERMIT_SHARE_PERCENT = 20

/** How many calls the platform allows in all these windows together, and under which key it counts them. */
export type Limit = { readonly limitKey: string; readonly windows: readonly LimitWindow[] }

/** A wait for calls in flight, which end at an unknown moment, asks again this often. */
export const POLL_SOON_MS = 50

/** A longer `Retry-After` is cut to this. The call after it is refused again, and says how long it still takes. */
export const MAX_RETRY_AFTER_MS = 600_000
