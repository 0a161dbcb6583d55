import { loadInstallation } from '#src/store/installation.ts'
import { failWorkerLostRuns } from '#src/store/runs.ts'
import { loadScheduleStates, type ScheduleState } from '#src/store/schedules.ts'
import type { BellQueue } from './backend.ts'
import { restoreSchedulers, ring, type TimedSchedule } from './bells.ts'
import type { JobContext } from './job.ts'
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
): Promise<Reconciler> {
  const { createdAt } = await loadInstallation(ferry.pool)
  return {
    async look() {
      const restored = await restoreSchedulers(queue, schedules)
      if (restored > 0) ferry.log.warn({ restored }, 'the queue had forgotten schedules; they are back')
      for (const run of await failWorkerLostRuns(ferry.pool)) {
        ferry.log.warn({ run }, 'a run was marked failed: its worker was lost')
      }
      const now = new Date()
      const latest = latestSlots(schedules, now)
      const states = await loadScheduleStates(ferry.pool, latest)
      for (const [index, schedule] of latest.entries()) {
        const state = states[index]
        if (state) await ringIfDue(schedule, state, now)
      }
      return soonestMs(states)
    },
  }

  async function ringIfDue({ schedule, account, timing, slot }: Asked, state: ScheduleState, now: Date) {
    const due = planBell(timing, slot, state, createdAt, ferry.catchUpMs, now)
    if (!due) return
    ferry.log.debug({ schedule, account, ...due }, 'the reconciler rings')
    await ring(queue, { job: schedule, account, slot: due.slot.toISOString(), trigger: due.trigger })
  }
}

type Asked = TimedSchedule & { readonly slot: Date }

/** Accounts share the timing of their job, and a cron time takes a millisecond to work out. */
function latestSlots(schedules: readonly TimedSchedule[], now: Date): Asked[] {
  const timings = new Set(schedules.map(schedule => schedule.timing))
  const slots = new Map([...timings].map(timing => [timing, slotAt(timing, now)]))
  return schedules.map(schedule => ({ ...schedule, slot: slots.get(schedule.timing) ?? now }))
}

function soonestMs(states: readonly ScheduleState[]): number {
  return Math.min(...states.map(({ open }) => (open && open.freeInMs > 0 ? open.freeInMs : Infinity)))
}
