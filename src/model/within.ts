import { setTimeout as delay } from 'node:timers/promises'

/** Settles as `work` does, or rejects with `late()` after `ms`; what becomes of `work` after that is ignored. */
export async function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  const timeUp = new AbortController()
  const timer = delay(Math.max(ms, 0), undefined, { signal: timeUp.signal }).then(() => {
    throw late()
  })
  try {
    return await Promise.race([work, timer])
  } finally {
    timeUp.abort()
  }
}

/** Whether `work` succeeds within `ms`. Never throws. */
export function succeedsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  return within(ms, work, () => new Error('late')).then(
    () => true,
    () => false,
  )
}
