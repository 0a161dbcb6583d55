/**
 * A moment by two clocks of this machine. The monotonic one does not count the time for which the machine sleeps; the other
 * one may be set back.
 */
export type Moment = { readonly monotonicMs: number; readonly wallMs: number }

export function momentNow(): Moment {
  return { monotonicMs: performance.now(), wallMs: Date.now() }
}

/** How long ago a moment was, by the clock that says more: never too little because of sleep, or because of a clock set back. */
export function msSince({ monotonicMs, wallMs }: Moment): number {
  return Math.max(performance.now() - monotonicMs, Date.now() - wallMs)
}
