import { setTimeout as delay } from 'node:timers/promises'
import type { Answer } from './answer.ts'

const MAX_ATTEMPTS = 3
const FIRST_BACK_OFF_MS = 500
/** The longest `Retry-After` that is waited for: a run has ten minutes. */
const MAX_BACK_OFF_MS = 60_000

export type RetryOptions = {
  readonly signal: AbortSignal
  readonly maxAttempts?: number | undefined
  onTooFrequent(message: string): void
  onRetry(message: string, attempted: number): void
}

/**
 * Makes up to three attempts at a listing (or `maxAttempts`) with a growing back-off, and returns the last answer. A 429 does
 * not count as an attempt: the throttle has closed the operation, and the next attempt waits for its permit. Rejects with the
 * signal's reason.
 */
export async function* retryListing<Step, T>(
  attempt: () => AsyncGenerator<Step, Answer<T>>,
  { signal, maxAttempts = MAX_ATTEMPTS, onTooFrequent, onRetry }: RetryOptions,
): AsyncGenerator<Step, Answer<T>> {
  let requests = 0
  for (let attempted = 1; ; ) {
    const answer = yield* attempt()
    requests += answer.requests
    if (answer.ok) return { ...answer, requests }
    signal.throwIfAborted()
    const { kind, retryable, message, retryAfterMs } = answer.refusal
    if (kind === 'too-frequent') {
      onTooFrequent(message)
      continue
    }
    if (!retryable || attempted === maxAttempts) return { ...answer, requests }
    onRetry(message, attempted)
    await backOff(attempted, retryAfterMs, signal)
    attempted += 1
  }
}

/** Grows with each attempt, with a random part: calls that failed together are not repeated together. */
async function backOff(attempted: number, retryAfterMs: number | null, signal: AbortSignal): Promise<void> {
  const growing = FIRST_BACK_OFF_MS * 2 ** (attempted - 1) * (0.5 + Math.random() / 2)
  const ms = Math.min(Math.max(growing, retryAfterMs ?? 0), MAX_BACK_OFF_MS)
  await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
