import type { LimitState } from '#src/db/limits.ts'
import { counted } from '#src/model/counted.ts'
import type { Pace } from './pace.ts'

export const NO_WORKER = 'No worker is processing this import: start `ferry worker` if none is running'
export const WORKER_SOON = 'A worker takes it within seconds'

/** A worker notices a queued import within this time, if one runs: it looks every 5 s. */
export const TAKEN_WITHIN_MS = 10_000

/** Returns why nothing of an active import is sent at this moment, in words; null if something is sent. */
export function whyWaiting(pace: Pace, limit: LimitState | null): string | null {
  if (pace.behind !== null) {
    const first = `Import ${pace.behind} of the same page goes first`
    return pace.hasWorker
      ? first
      : `${first}, and no worker is processing it: start \`ferry worker\`, or cancel that import`
  }
  if (!pace.hasWorker) {
    return pace.isAnyWorkerAlive && pace.queuedForMs < TAKEN_WITHIN_MS ? WORKER_SOON : NO_WORKER
  }
  if (pace.backOffMs > 0) {
    return `Backing off for ${seconds(pace.backOffMs)}${pace.backOffCode ? ` after ${pace.backOffCode}` : ''}`
  }
  if (limit && limit.closedMs > 0) {
    const until = new Date(Date.now() + limit.closedMs).toISOString().slice(11, 19)
    return `After a 429, no import is sent until ${until}Z (${seconds(limit.closedMs)})`
  }
  if (limit && limit.waitMs > 0) return `The limit allows the next call in ${seconds(limit.waitMs)}`
  if (pace.inFlight > 0) return `Waiting for ${counted(pace.inFlight, 'response')}`
  return null
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
