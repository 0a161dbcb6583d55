import { setTimeout as delay } from 'node:timers/promises'

const LOOK_EVERY_MS = 20

/**
 * Resolves with the first truthy value `condition` gives. Throws naming `what` once `timeoutMs` are over, which is long on
 * purpose: a busy machine may be slow. An error thrown by the condition counts as "not yet" and becomes the cause.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 180_000, what }: { timeoutMs?: number; what: string },
): Promise<NonNullable<T>> {
  const giveUpAt = performance.now() + timeoutMs
  let cause: unknown
  while (performance.now() < giveUpAt) {
    try {
      const value = await condition()
      if (value) return value
      cause = undefined
    } catch (error) {
      cause = error
    }
    await delay(LOOK_EVERY_MS)
  }
  throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`, { cause })
}

/**
 * Disposes of what a test had opened. A test that fails in the middle may leave a transaction open, for whose connection the
 * pool would wait for ever: then this throws, and the failure of the test is told with it.
 */
export async function closeInTime(opened: AsyncDisposable, timeoutMs = 60_000): Promise<void> {
  const timeIsUp = new AbortController()
  const late = delay(timeoutMs, undefined, { signal: timeIsUp.signal }).then(() => {
    throw new Error(
      `What the test had opened was not closed within ${timeoutMs} ms: is a transaction still open?`,
    )
  })
  try {
    await Promise.race([opened[Symbol.asyncDispose](), late])
  } finally {
    timeIsUp.abort()
    late.catch(() => {})
  }
}
