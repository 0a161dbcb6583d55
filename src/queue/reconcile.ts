import type { ClockReading } from '#src/store/clock.ts'
import { failWorkerLostRuns } from '#src/store/runs.ts'
import { ring } from './bells.ts'
import type { FindDue } from './due.ts'
import { reconcileImports } from './imports.ts'
import type { Bell, ImportBell, JobContext, TimedSchedule } from './job.ts'
import type { Producer } from './producer.ts'

/*
 * Postgres knows what is due; the queue only wakes workers. The reconciler asks Postgres, and rings for what is due, to be
 * tried again, or left by a dead worker. It may ring too often, never too seldom.
 */

export type Reconciler = {
  /** Looks once; returns in how many milliseconds it is worth looking again, or Infinity if nothing is waiting. */
  look(): Promise<number>
}

/** However many schedules there are, a worker looks no more often than this for the next one. */
const LOOK_AGAIN_MS = 200

/** NTP keeps machines within milliseconds; a difference of seconds confuses whoever compares logs. */
const TOLERATED_MS = 3_000

export function createReconciler(
  ferry: JobContext,
  findDue: FindDue,
  queue: Producer<Bell>,
  schedules: readonly TimedSchedule[],
  importQueue: Producer<ImportBell> | null = null,
): Reconciler {
  const { log } = ferry
  let clockIsWrong = false

  return {
    async look() {
      const { due, nextInMs, clock } = await findDue(schedules)
      watchClock(clock)
      for (const { schedule, slot } of due) {
        log.debug({ schedule: schedule.schedule, account: schedule.account, ...slot }, 'the reconciler rings')
        await ring(queue, schedule, clock.now)
      }
      await queue.lookAgain()
      await importQueue?.lookAgain()
      for (const run of await failWorkerLostRuns(ferry.pool)) {
        log.warn({ run }, 'a run was marked failed: its worker was lost')
      }
      if (importQueue) await reconcileImports(ferry, importQueue)
      return Math.max(nextInMs, LOOK_AGAIN_MS)
    },
  }

  function watchClock({ aheadMs, roundTripMs }: ClockReading): void {
    const isWrong = Math.abs(aheadMs) - roundTripMs / 2 > TOLERATED_MS
    if (isWrong && !clockIsWrong) {
      const seconds = `${Math.round(Math.abs(aheadMs) / 1_000)} s`
      log.warn(
        `This machine's clock is ${seconds} ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's. Schedules go by the ` +
          "database's, so nothing is missed; log lines of this machine are off. Have both set by NTP.",
      )
    } else if (!isWrong && clockIsWrong) {
      log.info("This machine's clock agrees with the database's again.")
    }
    clockIsWrong = isWrong
  }
}
