/** At most `maxCalls` calls in any rolling window of `windowMs`. */
export type LimitWindow = { readonly maxCalls: number; readonly windowMs: number }

/**
 * For this part of the arrival bound a permit may be used, from the moment it was asked for: 1 s of 5 s. The rest is for the
 * request to be written and to arrive.
 */
export const PERMIT_SHARE_PERCENT = 20

/** How many calls the platform allows in all these windows together, and under which key it counts them. */
export type Limit = {
  readonly limitKey: string
  readonly windows: readonly LimitWindow[]
  /** The accounts that share it. With other settings, their calls were recorded under other keys. */
  readonly accounts?: readonly string[]
}

/** A wait for calls in flight, which end at an unknown moment, asks again this often. */
export const POLL_SOON_MS = 50

/** A longer `Retry-After` is cut to this. The call after it is refused again, and says how long it still takes. */
export const MAX_RETRY_AFTER_MS = 600_000

/**
 * The part of a second by which the database's clock may gain in a second while it is adjusted. ntpd and systemd-timesyncd slew
 * by 500 ppm; chrony by 83,333 ppm unless its `maxslewrate` is set, which docs/operators.md asks for.
 */
const MAX_SLEW_PPM = 10_000

/** A time of the platform as it is measured by the database's clock: so much longer that it is over even if that clock gains. */
export function guardedMs(ms: number): number {
  return Math.ceil(ms * (1 + MAX_SLEW_PPM / 1_000_000))
}
