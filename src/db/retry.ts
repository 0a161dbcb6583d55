import { setTimeout as delay } from 'node:timers/promises'
import { isTransient } from '#src/model/transient-error.ts'

/** Longer than a restart of Postgres takes. */
const RETRY_FOR_MS = 15_000
const TRY_AGAIN_MS = 250

/**
 * Runs `work` until it succeeds, fails with an error that is not transient, or `retryForMs` have passed since its first
 * failure. Throws the last error. The first attempt may take any time. An abort of `signal` ends the retries.
 *
 * `work` may run several times, so it must be safe to repeat.
 */
export async function retryTransient<T>(
  work: () => Promise<T>,
  { retryForMs = RETRY_FOR_MS, signal }: { retryForMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  let untilMs: number | undefined
  for (;;) {
    try {
      return await work()
    } catch (error) {
      untilMs ??= performance.now() + retryForMs
      if (!isTransient(error) || performance.now() > untilMs || signal?.aborted) throw error
      // An abort ends the pause; the next failure then ends the loop.
      await delay(TRY_AGAIN_MS, undefined, { signal }).catch(() => {})
    }
  }
}
