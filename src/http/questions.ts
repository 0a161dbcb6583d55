import type { Logger } from 'pino'
import { compareSchema, type SchemaFit } from '#src/db/migrate.ts'
import { readWithin } from '#src/db/pool.ts'
import { reasonOf } from '#src/model/reason.ts'
import { type Freshness, loadFreshness } from '#src/reports/freshness.ts'
import { type DatabaseSource, readDatabaseGauges } from './database-metrics.ts'
import type { GaugeNow } from './gauges.ts'
import { ANSWER_WITHIN_MS, type Unreachable, unreachable, type Waiting } from './readiness.ts'
import { type Shared, shared } from './shared.ts'

/** What the answers of a worker come from. */
export type HttpTarget = DatabaseSource & {
  /** How many wake-ups wait in each queue; null for one that does not answer. */
  countWaiting(): Promise<Waiting>
}

/** What is asked of Postgres and the queue. Each is one question at a time, however many clients wait for it. */
export type Questions = {
  readonly schema: Shared<SchemaFit | Unreachable>
  readonly waiting: Shared<Waiting>
  readonly freshness: Shared<Freshness[]>
  readonly gauges: Shared<GaugeNow[]>
}

/** An answer to a probe is used again for so long, the gauges of the database for longer. */
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
