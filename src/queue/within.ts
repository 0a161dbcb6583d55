import { setTimeout as delay } from 'node:timers/promises'

/** Whether `work` ended well within the time; its errors are no news then. */
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
