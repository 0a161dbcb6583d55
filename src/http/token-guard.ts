import { createHash, timingSafeEqual } from 'node:crypto'
import type { Logger } from 'pino'
import type { Secret } from '#src/model/secret.ts'
import { networkOf } from './connections.ts'

/** Where a token is asked for. */
export type Door = 'console' | 'metrics'

/** The result of checking a token. `wait`: it was not compared, because too many wrong ones came from that address. */
export type Checked<T> =
  | { readonly is: 'right'; readonly value: T }
  | { readonly is: 'wrong' }
  | { readonly is: 'wait'; readonly seconds: number }

/** Dispose logs the failures that were not logged yet. */
export type TokenGuard = Disposable & {
  /** Returns what `compare` returns for the token of a request, null meaning a wrong one. */
  check<T>(door: Door, remoteAddress: string | undefined, compare: () => T | null): Checked<T>
}

/** An address may send this many wrong tokens at once, and then one in each interval. */
const MAX_AT_ONCE = 10
const ONE_EVERY_MS = 6_000
/** The most addresses that are remembered; the one whose last wrong token is oldest is dropped first. Each takes about 150 bytes. */
const MAX_ADDRESSES = 10_000
/** The first failure is logged at once; later ones are logged together, in one line per interval. */
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
  /** When each address has all its tries again. The address that failed last is last. */
  const freeAtMs = new Map<string, number>()
  let notLogged: { readonly door: Door; readonly address: string; readonly failures: number } | null = null
  let timer: NodeJS.Timeout | undefined

  function failed(door: Door, address: string, outcome: 'wrong' | 'braked'): void {
    onFailure(door, outcome)
    notLogged = { door, address, failures: (notLogged?.failures ?? 0) + 1 }
    if (timer === undefined) logNow()
  }

  function logNow(): void {
    timer = logFailures() ? setTimeout(logNow, LOG_EVERY_MS).unref() : undefined
  }

  /** False if there was nothing to log. */
  function logFailures(): boolean {
    if (notLogged === null) return false
    log.warn(notLogged, 'Wrong tokens were given. The last was from this address.')
    notLogged = null
    return true
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
    [Symbol.dispose]() {
      clearTimeout(timer)
      logFailures()
    },
  }
}

/** Whether an `Authorization` header bears the token. Takes the same time for every wrong one. */
export function bearsToken(authorization: string, token: Secret): boolean {
  const [, given = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? []
  return isToken(given, token)
}

/** Whether the text is the token. Takes the same time for every wrong one, however long it is. */
export function isToken(given: string, token: Secret): boolean {
  return timingSafeEqual(hashOf(given), hashOf(token.reveal()))
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Tells somebody who has to wait. */
export function tooManyWrong(seconds: number): string {
  return `Too many wrong tokens came from your address. Try again in ${seconds} s.`
}
