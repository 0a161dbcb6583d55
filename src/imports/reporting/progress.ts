import type { Pool } from 'pg'
import { type LimitState, loadLimitState } from '#src/db/limits.ts'
import { estimateMs } from '#src/imports/estimate.ts'
import { type ImportSummary, isActive, isEnded } from '#src/model/import.ts'
import type { Limit } from '#src/model/limit.ts'
import { loadPace, PACE_OVER_MS, type Pace, whyWaiting } from './pace.ts'
import {
  findSummaryRow,
  loadPauseWithWords,
  type PauseWithWords,
  type SummaryRow,
  summaryOf,
} from './summary.ts'

/** Where an import stands, for a person who watches it. */
export type Progress = {
  readonly summary: ImportSummary
  /** Batches not sent yet. */
  readonly batchesLeft: number
  /** Over the last minutes without pauses, at most what the limit allows; null if that is too short, or nothing was sent. */
  readonly rowsPerMinute: number | null
  /** Until the last row is sent, the limit included; null if that is unknown, or the import is not active. */
  readonly etaMs: number | null
  /** A sentence that says why nothing is sent at this moment; null if something is, or the import is not active. */
  readonly whyWaiting: string | null
}

/** The same with the platform's words, which may name recipients. */
export type ProgressWithPause = Progress & {
  /** Null if it is not paused. */
  readonly pause: PauseWithWords | null
  readonly isPurged: boolean
}

/** A rate observed for a shorter time says nothing yet. */
const MIN_PACE_MS = 60_000

/** Reads counts kept along the way. `limit` is null if the import's account is not known here. Throws `ImportNotFound`. */
export async function loadProgress(pool: Pool, id: bigint, limit: Limit | null): Promise<ProgressWithPause> {
  const row = await findSummaryRow(pool, id)
  const pause = await loadPauseWithWords(pool, row)
  return { ...(await progressOf(pool, row, limit)), pause, isPurged: row.purgedAt !== null }
}

/**
 * The same of an import that has been read already. `limitPool` reads the state of the limit: the read-only role may not see the
 * keys of limits.
 */
export async function progressOf(
  pool: Pool,
  row: SummaryRow,
  limit: Limit | null,
  limitPool = pool,
): Promise<Progress> {
  const summary = summaryOf(row)
  const pace = await loadPace(pool, BigInt(row.id))
  const batchesLeft = isEnded(row.status) ? 0 : pace.batchesLeft
  const atRest = { summary, batchesLeft, rowsPerMinute: null, etaMs: null, whyWaiting: null }
  if (!isActive(row.status)) return atRest

  const rowsPerMinute = rateOf(pace, limit)
  const state = limit && (await loadLimitState(limitPool, limit, 'import-subscribers'))
  const isSending = pace.hasWorker && pace.behind === null
  const eta = limit && state && isSending ? etaMs(summary.pending, pace, limit, state, rowsPerMinute) : null
  return { summary, batchesLeft, rowsPerMinute, etaMs: eta, whyWaiting: whyWaiting(pace, state) }
}

/**
 * The first calls of a window go out at once, and then none for the rest of it: a rate over less than a window misleads,
 * and one over a window and a half is higher than the limit allows.
 */
function rateOf({ rowsSent, paceMs, batchRows }: Pace, limit: Limit | null): number | null {
  const windows = limit?.windows ?? []
  const longestMs = Math.max(MIN_PACE_MS, ...windows.map(window => window.windowMs))
  if (rowsSent === 0 || paceMs < Math.min(longestMs, PACE_OVER_MS)) return null
  const allowed = windows.map(({ maxCalls, windowMs }) => (maxCalls * batchRows) / windowMs)
  return Math.min(rowsSent / paceMs, ...allowed) * 60_000
}

/**
 * The calls that count already and those to come are one sequence, which began when the first of them did. An import that
 * is slower than the limit allows, because another shares it or the platform is slow, is judged by its rate.
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
  const atThisRate = rowsPerMinute === null ? 0 : (pending / rowsPerMinute) * 60_000
  return Math.round(Math.max(fresh, followingOn, state.waitMs, pace.backOffMs, atThisRate))
}
