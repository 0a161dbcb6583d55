import type { Pool } from 'pg'
import type { JobContext } from '#jobs/job.ts'
import type { ClockReading } from '#src/db/clock.ts'
import { onlyRow } from '#src/db/rows.ts'
import { recordWorker, SEEN_EVERY_MS } from '#src/db/workers.ts'
import { ANY_EXPIRED_IN_SQL } from '#src/imports/sending/reclaim.ts'
import { ANY_UNFINISHED_IN_SQL as ANY_UNFINISHED_IMPORT_IN_SQL } from '#src/imports/sending/waiting-imports.ts'
import { ANY_UNFINISHED_IN_SQL as ANY_UNFINISHED_RUN_IN_SQL, failLostRuns } from '#src/inventory/lost-runs.ts'
import type { ImportWakeUp, ScheduleWakeUp } from '#src/queue/messages.ts'
import type { Producer } from '#src/queue/producer.ts'
import { ANY_MISSING_IN_SQL, type InventoryPromise, savePromises } from '#src/reports/promises.ts'
import type { Schedule } from '#src/schedules/definition.ts'
import type { FindDue } from '#src/schedules/find-due.ts'
import { reconcileImports } from './process-import.ts'
import { enqueueSchedule } from './wake-ups.ts'

/*
 * Postgres knows what is due; the queue only wakes workers. The reconciler asks Postgres, and enqueues a wake-up for what
 * is due, to be tried again, or left by a lost worker. It may enqueue too often, never too seldom. Each worker runs one by
 * a timer of its own, which a queue that was wiped cannot stop.
 */

export type Reconciler = {
  /** Looks once; returns in how many milliseconds it is worth looking again, or Infinity if nothing is waiting. */
  look(): Promise<number>
}

/** What a worker says of itself in Postgres. */
export type WorkerFacts = {
  /** The version of Ferry, for those who look at its workers. */
  readonly version?: string | null
  /** How old the data of its accounts may be: written again if somebody has removed it. */
  readonly promises?: readonly InventoryPromise[]
}

export type Producers = {
  readonly sync: Producer<ScheduleWakeUp>
  readonly import: Producer<ImportWakeUp>
}

/** However many schedules there are, a worker looks no more often than this for the next one. */
const LOOK_AGAIN_MS = 200

/** NTP keeps machines within milliseconds; a difference of seconds confuses whoever compares logs. */
const TOLERATED_MS = 3_000

export function createReconciler(
  context: Pick<JobContext, 'pool' | 'log' | 'accounts' | 'holder'>,
  findDue: FindDue,
  queues: Producers,
  schedules: readonly Schedule[],
  { version = null, promises = [] }: WorkerFacts = {},
): Reconciler {
  const { log } = context
  let clockIsWrong = false
  let recordedAtMs = Number.NEGATIVE_INFINITY

  return {
    async look() {
      const { due, nextInMs, clock } = await findDue(schedules)
      watchClock(clock)
      for (const { schedule, slot } of due) {
        log.debug(
          { schedule: schedule.schedule, account: schedule.account, ...slot },
          'The reconciler enqueues a schedule that is due.',
        )
        await enqueueSchedule(queues.sync, schedule, clock.now)
      }
      await queues.sync.lookAgain()
      await queues.import.lookAgain()
      const unfinished = await lookForUnfinished(context.pool, promises)
      for (const run of unfinished.runs ? await failLostRuns(context.pool) : []) {
        log.warn({ run }, 'A run was marked failed: its worker was lost.')
      }
      if (unfinished.promises) await savePromises(context.pool, promises)
      if (unfinished.imports) await reconcileImports(context, queues.import)
      await recordPresence()
      return Math.max(nextInMs, LOOK_AGAIN_MS)
    },
  }

  async function recordPresence(): Promise<void> {
    if (performance.now() - recordedAtMs < SEEN_EVERY_MS) return
    await recordWorker(context.pool, context.holder, version, context.accounts.keys())
    recordedAtMs = performance.now()
  }

  function watchClock({ aheadMs, roundTripMs }: ClockReading): void {
    const isWrong = Math.abs(aheadMs) - roundTripMs / 2 > TOLERATED_MS
    if (isWrong && !clockIsWrong) {
      const seconds = `${Math.round(Math.abs(aheadMs) / 1_000)} s`
      log.warn(
        `This machine's clock is ${seconds} ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's. Schedules use the ` +
          "database's clock, so nothing is missed; the times in this machine's log are wrong. Set both clocks by NTP.",
      )
    } else if (!isWrong && clockIsWrong) {
      log.info("This machine's clock agrees with the database's again.")
    }
    clockIsWrong = isWrong
  }
}

type Unfinished = { readonly runs: boolean; readonly imports: boolean; readonly promises: boolean }

/** Whether there is anything to look at more closely: most looks of a worker find that there is not. */
async function lookForUnfinished(pool: Pool, promises: readonly InventoryPromise[]): Promise<Unfinished> {
  const { rows } = await pool.query<Unfinished>(
    `select ${ANY_UNFINISHED_RUN_IN_SQL} as runs,
       ${ANY_UNFINISHED_IMPORT_IN_SQL} or ${ANY_EXPIRED_IN_SQL} as imports,
       ${ANY_MISSING_IN_SQL} as promises`,
    [promises.map(({ account }) => account), promises.map(({ resource }) => resource)],
  )
  return onlyRow(rows, 'the look for unfinished work')
}
