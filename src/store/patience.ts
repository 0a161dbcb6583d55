import { setTimeout as delay } from 'node:timers/promises'

/** Longer than Postgres takes to be restarted. */
const PATIENCE_MS = 15_000
const TRY_AGAIN_MS = 250

/** Does `work`, which may be repeated, again and again while Postgres is away or too busy, for a quarter of a minute. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error) || performance.now() > untilMs) throw error
      await delay(TRY_AGAIN_MS)
    }
  }
}

/** Lost connections, a server that stops or starts, too many connections, and transactions that met another's. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (/^[0-9A-Z]{5}$/.test(code)) return /^(08|40|53|55P03|57P)/.test(code)
  return /^E[A-Z]+$/.test(code) || /connection|connect/i.test(error.message)
}
