import type { Pool } from 'pg'
import { z } from 'zod'
import type { JobContext } from '#jobs/job.ts'
import type { ClockReading } from '#src/db/clock.ts'
import { findOne } from '#src/db/rows.ts'
import { recordWorker, SEEN_EVERY_MS } from '#src/db/workers.ts'
import { ANY_EXPIRED_IN_SQL } from '#src/imports/sending/reclaim.ts'
import { ANY_UNFINISHED_IN_SQL as ANY_UNFINISHED_IMPORT_IN_SQL } from '#src/imports/sending/waiting-imports.ts'
import {
  ANY_UNFINISHED_IN_SQL as ANY_UNFINISHED_RUN_IN_SQL,
  failLostRuns,
} from '#src/inventory/runs/lost-runs.ts'
import type { Consumer } from '#src/queue/consumer.ts'
import type { ImportWakeUp, ScheduleWakeUp } from '#src/queue/messages.ts'
import type { Producer } from '#src/queue/producer.ts'
import {
  ANY_MISSING_IN_SQL,
  type FreshnessTarget,
  saveFreshnessTargets,
} from '#src/reports/freshness-targets.ts'
import type { Schedule } from '#src/schedules/definition.ts'
import type { DueFinder } from '#src/schedules/find-due.ts'
import { reconcileImports } from './process-import.ts'
import { Waiting } from './waiting.ts'
import { enqueueSchedule, IMPORT_JOB } from './wake-ups.ts'

/*
 * Postgres knows what is due; the queue only wakes workers. The reconciler asks Postgres, and enqueues a wake-up for what
 * is due, waits for another attempt, or was left by a lost worker. It may enqueue too often, never too seldom. Each worker
 * runs one by a timer of its own, which a queue that was wiped cannot stop.
 *
 * A worker that does not have the account of a wake-up drops it, and a queue that does not answer delivers none. So what still
 * waits after a few seconds is begun here, without the queue; its lease decides if several workers do so.
 */

/** The facts about itself that a worker writes into Postgres. */
export type WorkerFacts = {
  /** The version of Ferry, for those who look at its workers. */
  readonly version?: string | null
  /** How old the data of its accounts may be: written again if somebody has removed it. */
  readonly targets?: readonly FreshnessTarget[]
}

export type Producers = {
  readonly sync: Producer<ScheduleWakeUp>
  readonly import: Producer<ImportWakeUp>
}

/** This worker's own. */
export type Consumers = {
  readonly sync: Pick<Consumer<ScheduleWakeUp>, 'processHere'>
  readonly import: Pick<Consumer<ImportWakeUp>, 'processHere'>
}

/** However many schedules there are, a worker looks no more often than this for the next one. */
const LOOK_AGAIN_MS = 200

/** NTP keeps machines within milliseconds; a difference of seconds confuses people who compare logs. */
const TOLERATED_MS = 3_000

type Context = Pick<JobContext, 'pool' | 'log' | 'accounts' | 'holder' | 'noticeDatabase'>

export class Reconciler {
  readonly #context: Context
  readonly #dueFinder: Pick<DueFinder, 'find'>
  readonly #producers: Producers
  readonly #consumers: Consumers
  readonly #schedules: readonly Schedule[]
  readonly #facts: Required<WorkerFacts>
  readonly #waitingSchedules = new Waiting<Schedule>(({ schedule, account }) => `${schedule}/${account}`)
  readonly #waitingImports = new Waiting<bigint>(String)
  #clockIsWrong = false
  #recordedAtMs = Number.NEGATIVE_INFINITY

  constructor(
    context: Context,
    dueFinder: Pick<DueFinder, 'find'>,
    { producers, consumers }: { readonly producers: Producers; readonly consumers: Consumers },
    schedules: readonly Schedule[],
    { version = null, targets = [] }: WorkerFacts = {},
  ) {
    this.#context = context
    this.#dueFinder = dueFinder
    this.#producers = producers
    this.#consumers = consumers
    this.#schedules = schedules
    this.#facts = { version, targets }
  }

  /** Looks once; returns in how many milliseconds it is worth looking again, or Infinity if nothing is waiting. */
  async look(): Promise<number> {
    const { pool, log } = this.#context
    const { sync, import: imports } = this.#producers
    // Before anything is enqueued: an import that is to be held must not be sent.
    await this.#context.noticeDatabase()
    await this.#recordPresence()
    const { targets } = this.#facts
    const { due, nextInMs, clock } = await this.#dueFinder.find(this.#schedules)
    this.#watchClock(clock)
    for (const { schedule: job, account } of this.#waitingSchedules.look(due.map(({ schedule }) => schedule)))
      this.#consumers.sync.processHere(job, { job, account })
    for (const { schedule, slot } of due) {
      log.debug(
        { schedule: schedule.schedule, account: schedule.account, ...slot },
        'The reconciler enqueues a schedule that is due.',
      )
      await enqueueSchedule(sync, schedule, clock.now)
    }
    await sync.lookAgain()
    await imports.lookAgain()
    const unfinished = await lookForUnfinished(pool, targets)
    for (const run of unfinished.runs ? await failLostRuns(pool) : []) {
      log.warn({ run }, 'A run was marked failed: its worker was lost.')
    }
    if (unfinished.targets) await saveFreshnessTargets(pool, targets)
    const waiting = unfinished.imports ? await reconcileImports(this.#context, imports) : []
    for (const id of this.#waitingImports.look(waiting))
      this.#consumers.import.processHere(IMPORT_JOB, { import: `${id}` })
    return Math.max(nextInMs, LOOK_AGAIN_MS)
  }

  async #recordPresence(): Promise<void> {
    if (performance.now() - this.#recordedAtMs < SEEN_EVERY_MS) return
    const { pool, holder, accounts } = this.#context
    await recordWorker(pool, holder, this.#facts.version, accounts.keys())
    this.#recordedAtMs = performance.now()
  }

  #watchClock({ aheadMs, roundTripMs }: ClockReading): void {
    const isWrong = Math.abs(aheadMs) - roundTripMs / 2 > TOLERATED_MS
    if (isWrong && !this.#clockIsWrong) {
      const seconds = `${Math.round(Math.abs(aheadMs) / 1_000)} s`
      this.#context.log.warn(
        `This machine's clock is ${seconds} ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's. Schedules use the ` +
          "database's clock, so nothing is missed; the times in this machine's log are wrong. Set both clocks by NTP.",
      )
    } else if (!isWrong && this.#clockIsWrong) {
      this.#context.log.info("This machine's clock agrees with the database's again.")
    }
    this.#clockIsWrong = isWrong
  }
}

const Unfinished = z.object({ runs: z.boolean(), imports: z.boolean(), targets: z.boolean() })

/** Says what to look at more closely, in one statement: most looks find nothing. */
function lookForUnfinished(pool: Pool, targets: readonly FreshnessTarget[]) {
  return findOne(
    pool,
    Unfinished,
    `select ${ANY_UNFINISHED_RUN_IN_SQL} as runs,
       ${ANY_UNFINISHED_IMPORT_IN_SQL} or ${ANY_EXPIRED_IN_SQL} as imports,
       ${ANY_MISSING_IN_SQL} as targets`,
    [targets.map(({ account }) => account), targets.map(({ resource }) => resource)],
  )
}
