import { setTimeout as delay } from 'node:timers/promises'

/** Whether `work` succeeds within `ms`. Never throws; later errors of `work` are ignored. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const timeUp = new AbortController()
  const late = delay(Math.max(ms, 0), false, { signal: timeUp.signal })
  const done = work.then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([done, late])
  } finally {
    timeUp.abort()
    late.catch(() => {})
  }
}
