import type { Pool } from 'pg'
import type { ImportSummary } from '#src/model/import.ts'
import {
  type LimitState,
  loadLimitState,
  loadPace,
  loadSummaryRow,
  type Pace,
  type SummaryRow,
} from '#src/store/imports/progress.ts'
import type { Limit } from '#src/store/throttle.ts'
import { ImportNotFound } from './errors.ts'
import { estimateMs } from './estimate.ts'

/** How an import stands, for whoever watches it. */
export type Progress = {
  readonly summary: ImportSummary
  /** Batches not sent yet. */
  readonly batchesLeft: number
  /** Over the last minutes; null before anything can be said. */
  readonly rowsPerMinute: number | null
  /** Until the last row is sent, the limit included; null if nobody can say, or nothing is left. */
  readonly etaMs: number | null
  /** Why nothing is sent at this moment, in words; null if something is, or the import is at rest. */
  readonly whyWaiting: string | null
  /** Why it is paused; null if it is not. */
  readonly pause: Pause | null
}

export type Pause = {
  /** The platform's code, or one of Ferry's; null if a person paused it. */
  readonly code: string | null
  readonly httpStatus: number | null
  readonly requestId: string | null
  readonly message: string | null
  readonly whatToDo: string | null
}

/** The time left is judged by the rate once it has been seen for longer than the windows of a limit usually are. */
const SHORTEST_PACE_MS = 90_000

/** Returns where an import stands, from sums over its batches. Throws `ImportNotFound`. */
export async function loadSummary(pool: Pool, id: bigint): Promise<ImportSummary> {
  return summaryOf(await findRow(pool, id))
}

/** The same with its pace; `limit` is null if the import's account is not known here. Throws `ImportNotFound`. */
export async function loadProgress(pool: Pool, id: bigint, limit: Limit | null): Promise<Progress> {
  const row = await findRow(pool, id)
  const summary = summaryOf(row)
  const pause = row.status === 'paused' ? pauseOf(row) : null
  const pace = await loadPace(pool, id)
  if (!pace) throw new ImportNotFound(id)
  const batchesLeft = row.finished_at === null ? pace.batchesLeft : 0
  if (row.status !== 'queued' && row.status !== 'running') {
    return { summary, batchesLeft, rowsPerMinute: null, etaMs: null, whyWaiting: null, pause }
  }
  const state = limit && (await loadLimitState(pool, limit))
  const paceMs = Math.max(pace.paceMs, longestWindowMs(limit))
  const rowsPerMinute = pace.rowsSent > 0 ? (pace.rowsSent / paceMs) * 60_000 : null
  const canTell = limit && state && isWorkedOn(pace)
  return {
    summary,
    batchesLeft,
    rowsPerMinute,
    etaMs: canTell ? etaMs(summary.pending, pace, limit, state, rowsPerMinute) : null,
    whyWaiting: whyWaiting(pace, state),
    pause,
  }
}

function isWorkedOn({ attended, behind }: Pace): boolean {
  return attended && behind === null
}

/** The first calls of a window go out at once, and then none for the rest of it: a rate over less misleads. */
function longestWindowMs(limit: Limit | null): number {
  return Math.max(...(limit?.windows.map(window => window.windowMs) ?? [60_000]))
}

/** The same as it is stored. Throws `ImportNotFound`. */
export async function findRow(pool: Pool, id: bigint): Promise<SummaryRow> {
  const row = await loadSummaryRow(pool, id)
  if (!row) throw new ImportNotFound(id)
  return row
}

/** The keys in the order that is promised to scripts. */
export function summaryOf(row: SummaryRow): ImportSummary {
  return {
    import: BigInt(row.id),
    account: row.account,
    page: BigInt(row.page_id),
    status: row.status,
    read: row.read,
    sent: row.sent,
    rejected: row.rejected,
    duplicate: row.duplicate,
    suppressed: row.suppressed,
    alreadyImported: row.already_imported,
    uncertain: row.uncertain,
    pending: row.pending,
    batches: row.batches,
    requests: row.requests,
    durationMs: row.duration_ms,
  }
}

export function pauseOf(row: SummaryRow): Pause {
  return {
    code: row.pause_code,
    httpStatus: row.pause_http_status,
    requestId: row.pause_request_id,
    message: row.pause_message,
    whatToDo: row.pause_what_to_do,
  }
}

/**
 * The calls that count already and those to come are one sequence, begun when the first of them did. An import that
 * is slower than the limit (another shares it, the platform is slow) is judged by its rate.
 */
function etaMs(
  pending: number,
  pace: Pace,
  limit: Limit,
  state: LimitState,
  rowsPerMinute: number | null,
): number {
  const { batchesLeft } = pace
  if (batchesLeft === 0) return 0
  const fresh = estimateMs(batchesLeft, limit)
  const followingOn = estimateMs(state.counted + batchesLeft, limit) - state.countedForMs
  const atThisRate =
    rowsPerMinute !== null && pace.paceMs >= SHORTEST_PACE_MS ? (pending / rowsPerMinute) * 60_000 : 0
  return Math.round(Math.max(fresh, followingOn, state.waitMs, pace.backOffMs, atThisRate))
}

export const NO_WORKER = 'no worker is at it: start `ferry worker` if none is running'

function whyWaiting(pace: Pace, state: LimitState | null): string | null {
  if (pace.behind !== null) {
    const first = `another import of this page goes first (import ${pace.behind})`
    return pace.attended ? first : `${first}, and no worker is at it: start one, or cancel that import`
  }
  if (!pace.attended) return NO_WORKER
  if (pace.backOffMs > 0) {
    return `backing off for ${seconds(pace.backOffMs)}${pace.backOffCode ? ` after ${pace.backOffCode}` : ''}`
  }
  if (state && state.closedMs > 0) {
    const until = new Date(Date.now() + state.closedMs).toISOString().slice(11, 19)
    return `a 429 closed imports until ${until}Z, for ${seconds(state.closedMs)}`
  }
  if (state && state.waitMs > 0) return `next slot in ${seconds(state.waitMs)}`
  if (pace.inFlight > 0)
    return pace.inFlight === 1 ? 'an answer is awaited' : `${pace.inFlight} answers are awaited`
  return null
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
