import { setTimeout as delay } from 'node:timers/promises'

/** Longer than Postgres takes to be restarted. */
const PATIENCE_MS = 15_000
const TRY_AGAIN_MS = 250

/**
 * Does `work`, which may be repeated, again and again while Postgres is away or too busy: until `patienceMs` after it
 * first failed, however long that first attempt took, or until `signal` aborts.
 */
export async function patiently<T>(
  work: () => Promise<T>,
  { patienceMs = PATIENCE_MS, signal }: { patienceMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  let untilMs: number | undefined
  for (;;) {
    try {
      return await work()
    } catch (error) {
      untilMs ??= performance.now() + patienceMs
      if (!isPassing(error) || performance.now() > untilMs || signal?.aborted) throw error
      await delay(TRY_AGAIN_MS, undefined, { signal }).catch(() => {})
    }
  }
}

/**
 * Whether it is the environment's fault and passes by itself: a lost connection, a server that stops or starts, is
 * read-only (a failover), has no connection left or ended a transaction that took too long, and transactions that met
 * another's.
 */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (/^[0-9A-Z]{5}$/.test(code) && !SYSTEM_ERROR.test(code)) {
    return /^(08|25006|25P0[34]|40|53|55P03|57P)/.test(code)
  }
  return SYSTEM_ERROR.test(code) || /connection|connect|query read timeout/i.test(error.message)
}

/** ECONNRESET, ETIMEDOUT, EAI_AGAIN, ...; EPIPE has the length of Postgres's codes, of which none begins with E. */
const SYSTEM_ERROR = /^E[A-Z]+(_[A-Z]+)?$/
