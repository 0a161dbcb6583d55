import type { SendState } from './import-state.ts'

/** So that a platform that takes 10 s to answer still gets 20 calls a minute. */
const MAX_IN_FLIGHT = 4

/**
 * Returns how many calls of an import may be in flight: one until a call was accepted, and after one that failed, because
 * what is wrong should cost few calls.
 */
export function maxInFlight({ accepted, failures }: SendState): number {
  return accepted === 0 || failures > 0 ? 1 : MAX_IN_FLIGHT
}
