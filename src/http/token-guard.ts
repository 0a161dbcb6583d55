import type { Logger } from 'pino'
import { networkOf } from './address.ts'

/** What asks for a token. */
export type Door = 'console' | 'metrics'

/** What came of a token. `wait`: it was not compared, because too many wrong ones came from that address. */
export type Checked<T> =
  | { readonly is: 'right'; readonly value: T }
  | { readonly is: 'wrong' }
  | { readonly is: 'wait'; readonly seconds: number }

export type TokenGuard = {
  /** Returns what `compare` returns for the token of a request, null meaning a wrong one. */
  check<T>(door: Door, remoteAddress: string | undefined, compare: () => T | null): Checked<T>
}

/** So many wrong tokens may come from an address at once, and then one each time that this has passed. */
const MAX_AT_ONCE = 10
const ONE_EVERY_MS = 6_000
/** More than this are not remembered: the address whose last wrong token is oldest is forgotten. Each takes some 150 bytes. */
const MAX_ADDRESSES = 10_000
/** One line in the log for all that failed meanwhile. */
const LOG_EVERY_MS = 10_000

export type GuardOptions = {
  readonly log: Logger
  readonly onFailure: (door: Door, outcome: 'wrong' | 'braked') => void
  /** Monotonic, in milliseconds. */
  readonly clock?: () => number
}

/**
 * Returns what compares tokens, with a brake on whoever guesses them. The brake comes before the comparison, so an address
 * that is braked learns nothing of its guesses; a right token costs nothing, and no address is braked for another one.
 */
export function createTokenGuard({
  log,
  onFailure,
  clock = () => performance.now(),
}: GuardOptions): TokenGuard {
  /** When each address has all its tries again. The one that failed last stands last. */
  const freeAtMs = new Map<string, number>()
  let notLogged = 0
  let loggedAtMs = Number.NEGATIVE_INFINITY

  function failed(door: Door, address: string, outcome: 'wrong' | 'braked'): void {
    onFailure(door, outcome)
    notLogged += 1
    if (clock() - loggedAtMs < LOG_EVERY_MS) return
    log.warn(
      { door, address, failures: notLogged },
      'Wrong tokens were given. The last was from this address.',
    )
    loggedAtMs = clock()
    notLogged = 0
  }

  function remember(address: string, atMs: number): void {
    freeAtMs.delete(address)
    freeAtMs.set(address, atMs)
    const [oldest] = freeAtMs.keys()
    if (freeAtMs.size > MAX_ADDRESSES && oldest !== undefined) freeAtMs.delete(oldest)
  }

  return {
    check(door, remoteAddress, compare) {
      const address = networkOf(remoteAddress)
      const now = clock()
      const freeAt = Math.max(now, freeAtMs.get(address) ?? now)
      const waitMs = freeAt - now - (MAX_AT_ONCE - 1) * ONE_EVERY_MS
      if (waitMs > 0) {
        failed(door, address, 'braked')
        return { is: 'wait', seconds: Math.ceil(waitMs / 1_000) }
      }
      const value = compare()
      if (value !== null) return { is: 'right', value }
      remember(address, freeAt + ONE_EVERY_MS)
      failed(door, address, 'wrong')
      return { is: 'wrong' }
    },
  }
}
