import { setTimeout as delay } from 'node:timers/promises'

/** Settles as `work` does, or rejects with `late()` after `ms`; the outcome of `work` after that is ignored. */
export async function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  const done = await unlessLate(
    ms,
    work.then(value => ({ value })),
  )
  if (done === null) throw late()
  return done.value
}

/** Whether `work` succeeds within `ms`. Never throws. */
export function succeedsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  return within(ms, work, () => new Error('late')).then(
    () => true,
    () => false,
  )
}

/** Resolves once all of these have ended. Rejects then, too, with the fault of the first that has one. */
export async function allEnded<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/** Settles as `work` does, or resolves to null after `ms`, or once `signal` aborts; then `work` goes on, and is ignored. */
export async function unlessLate<T>(ms: number, work: Promise<T>, signal?: AbortSignal): Promise<T | null> {
  const over = new AbortController()
  const stop = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  const late = delay(Math.max(ms, 0), null, { signal: stop }).catch(() => null)
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}
