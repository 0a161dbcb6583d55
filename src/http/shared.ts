import { setTimeout as delay } from 'node:timers/promises'

/** What `work` returned, or null if it failed or gave no answer in time. */
export type Shared<T> = (signal: AbortSignal) => Promise<T | null>

/**
 * Returns a function that does `work` at most once at a time, however many ask: all of them get its result, and so do those
 * who ask within `keepMs` of it. Each waits `withinMs` at most, or until `signal` aborts. Work that takes longer goes on, and
 * nobody begins it again before it has ended. `onFailure` is told of work that failed, which is not kept.
 *
 * Time is counted by the monotonic clock, so a machine's clock that is set back keeps nothing for longer.
 */
export function shared<T>(
  work: () => Promise<T>,
  {
    keepMs,
    withinMs,
    onFailure,
  }: {
    readonly keepMs: number
    readonly withinMs: number
    readonly onFailure: (error: unknown) => void
  },
): Shared<T> {
  let underWay: Promise<T | null> | null = null
  let kept: { readonly value: T; readonly atMs: number } | null = null

  async function workOnce(): Promise<T | null> {
    try {
      const value = await work()
      kept = { value, atMs: performance.now() }
      return value
    } catch (error) {
      onFailure(error)
      return null
    }
  }

  return async signal => {
    if (kept && performance.now() - kept.atMs < keepMs) return kept.value
    underWay ??= workOnce().finally(() => {
      underWay = null
    })
    const over = new AbortController()
    const late = delay(withinMs, null, { signal: AbortSignal.any([signal, over.signal]) }).catch(() => null)
    try {
      return await Promise.race([underWay, late])
    } finally {
      over.abort()
    }
  }
}
