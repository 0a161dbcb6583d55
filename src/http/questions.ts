import type { Logger } from 'pino'
import { readWithin } from '#src/db/pool.ts'
import { compareSchema, type SchemaFit } from '#src/db/schema-state.ts'
import { reasonOf } from '#src/model/reason.ts'
import { unlessLate } from '#src/model/within.ts'
import { type Freshness, loadFreshness } from '#src/reports/freshness.ts'
import { type DatabaseSource, readDatabaseGauges } from './database-metrics.ts'
import type { GaugeNow } from './gauges.ts'
import { ANSWER_WITHIN_MS, type Unreachable, unreachable, type Waiting } from './readiness.ts'

/** Where the answers of a worker come from. */
export type HttpTarget = DatabaseSource & {
  /** The number of wake-ups that wait in each queue; null for a queue that does not answer. */
  countWaiting(): Promise<Waiting>
}

/** Questions to Postgres and the queue. Each runs once at a time, however many clients wait for its answer. */
export type Questions = {
  readonly schema: Shared<SchemaFit | Unreachable>
  readonly waiting: Shared<Waiting>
  readonly freshness: Shared<Freshness[]>
  readonly gauges: Shared<GaugeNow[]>
}

/** How long an answer to a probe is reused. The gauges of the database are reused for longer. */
const KEEP_MS = 1_000
const KEEP_GAUGES_MS = 10_000

export function createQuestions(target: HttpTarget, log: Logger): Questions {
  const { pool } = target
  const limits = {
    keepMs: KEEP_MS,
    withinMs: ANSWER_WITHIN_MS,
    // What does not answer is logged once, by the pool or the queue.
    onFailure: (error: unknown) =>
      log.debug({ error: reasonOf(error) }, 'A question of an HTTP request failed.'),
  }
  return {
    schema: shared(() => compareSchema(pool, ANSWER_WITHIN_MS).catch(unreachable), limits),
    waiting: shared(target.countWaiting, limits),
    freshness: shared(() => readWithin(pool, ANSWER_WITHIN_MS, client => loadFreshness(client)), limits),
    gauges: shared(() => readDatabaseGauges(target), { ...limits, keepMs: KEEP_GAUGES_MS }),
  }
}

/** The result of `work`, or null if it failed or took too long. */
export type Shared<T> = (signal: AbortSignal) => Promise<T | null>

/**
 * Returns a function that does `work` at most once at a time, however many ask: all of them get its result, and so do those
 * who ask within `keepMs` of it. Each waits `withinMs` at most, or until `signal` aborts. Work that takes longer goes on, and
 * nobody begins it again before it has ended. `onFailure` is told of work that failed, which is not kept.
 *
 * Time is counted by the monotonic clock, so a machine's clock that is set back keeps nothing for longer.
 */
function shared<T>(
  work: () => Promise<T>,
  {
    keepMs,
    withinMs,
    onFailure,
  }: {
    readonly keepMs: number
    readonly withinMs: number
    readonly onFailure: (error: unknown) => void
  },
): Shared<T> {
  let underWay: Promise<T | null> | null = null
  let kept: { readonly value: T; readonly atMs: number } | null = null

  async function workOnce(): Promise<T | null> {
    try {
      const value = await work()
      kept = { value, atMs: performance.now() }
      return value
    } catch (error) {
      onFailure(error)
      return null
    }
  }

  return async signal => {
    if (kept && performance.now() - kept.atMs < keepMs) return kept.value
    underWay ??= workOnce().finally(() => {
      underWay = null
    })
    return unlessLate(withinMs, underWay, signal)
  }
}
