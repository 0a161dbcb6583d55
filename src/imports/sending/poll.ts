import { POLL_SOON_MS } from '#src/model/limit.ts'

/** However long the wait, the import may be paused meanwhile. */
const MAX_POLL_MS = 1_000

/** Returns after how many milliseconds to ask again for what was not available. */
export function pollAfterMs({
  waitMs,
  pollSoon,
}: {
  readonly waitMs: number
  readonly pollSoon?: boolean
}): number {
  return Math.max(1, Math.min(waitMs, pollSoon ? POLL_SOON_MS : MAX_POLL_MS))
}
