import { reasonOf } from '#src/model/reason.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { failWorkerLostRuns } from '#src/store/runs.ts'
import { loadScheduleStates, type ScheduleState } from '#src/store/schedules.ts'
import type { BellQueue } from './backend.ts'
import { restoreSchedulers, ring, type TimedSchedule } from './bells.ts'
import { type ImportQueue, reconcileImports } from './imports.ts'
import type { JobContext, Timing } from './job.ts'
import { planBell } from './plan.ts'
import { slotAt } from './timing.ts'

/*
 * Postgres knows what is due; the queue only rings. The reconciler compares the two and rings for what the queue has
 * forgotten, for what is to be tried again, and for what a dead worker left. It may ring too often, never too seldom.
 */

export type Reconciler = {
  /** Looks once; returns in how many milliseconds it is worth looking again, or Infinity if nothing is waiting. */
  look(): Promise<number>
}

export async function openReconciler(
  ferry: JobContext,
  queue: BellQueue,
  schedules: readonly TimedSchedule[],
  importQueue: ImportQueue | null = null,
): Promise<Reconciler> {
  const { createdAt } = await loadInstallation(ferry.pool)
  const broken = new Set<Timing>()
  return {
    async look() {
      const restored = await restoreSchedulers(queue, schedules)
      if (restored > 0) ferry.log.warn({ restored }, 'the queue had forgotten schedules; they are back')
      for (const run of await failWorkerLostRuns(ferry.pool)) {
        ferry.log.warn({ run }, 'a run was marked failed: its worker was lost')
      }
      if (importQueue) await reconcileImports(ferry, importQueue)
      const now = new Date()
      const latest = latestSlots(now)
      const states = await loadScheduleStates(ferry.pool, latest)
      for (const [index, schedule] of latest.entries()) {
        const state = states[index]
        if (state) await ringIfDue(schedule, state, now)
      }
      return soonestMs(states)
    },
  }

  async function ringIfDue({ schedule, account, timing, slot }: Asked, state: ScheduleState, now: Date) {
    const plan = () => planBell(timing, slot, state, createdAt, ferry.catchUpMs, now)
    const due = unlessBroken(timing, plan)
    if (!due) return
    ferry.log.debug({ schedule, account, ...due }, 'the reconciler rings')
    await ring(queue, { job: schedule, account, slot: due.slot.toISOString(), trigger: due.trigger })
  }

  /** Accounts share the timing of their job, and a cron time takes milliseconds to work out. */
  function latestSlots(now: Date): Asked[] {
    const timings = new Set(schedules.map(schedule => schedule.timing))
    const slots = new Map(
      [...timings].map(timing => [timing, unlessBroken(timing, () => slotAt(timing, now))]),
    )
    return schedules.flatMap(schedule => {
      const slot = slots.get(schedule.timing)
      return slot ? [{ ...schedule, slot }] : []
    })
  }

  /** A time that cannot be worked out must stop no other schedule; it is said once. */
  function unlessBroken<T>(timing: Timing, work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      if (!broken.has(timing)) {
        ferry.log.error({ timing, error: reasonOf(error) }, 'a time of a schedule cannot be worked out')
      }
      broken.add(timing)
      return undefined
    }
  }
}

type Asked = TimedSchedule & { readonly slot: Date }

function soonestMs(states: readonly ScheduleState[]): number {
  return Math.min(...states.map(({ open }) => (open && open.freeInMs > 0 ? open.freeInMs : Infinity)))
}
