import { reasonOf } from '#src/model/reason.ts'
import { type ClockReading, readClock } from '#src/store/clock.ts'
import { loadScheduleStates, type ScheduleState } from '#src/store/schedules.ts'
import { addFirstSlot } from '#src/store/slots.ts'
import type { JobContext, TimedSchedule, Timing } from './job.ts'
import { type Due, planBell } from './plan.ts'
import { slotAfter, slotAt } from './timing.ts'

/** What is due, as Postgres knows it and by the clock of Postgres: whoever asks, however wrong his own clock, learns the same. */
export type DueNow = {
  readonly due: readonly { readonly schedule: TimedSchedule; readonly slot: Due }[]
  /** In how many milliseconds something may be due that is not due now; Infinity if nothing will. */
  readonly nextInMs: number
  readonly clock: ClockReading
}

export type FindDue = (schedules: readonly TimedSchedule[]) => Promise<DueNow>

type Asked = TimedSchedule & { readonly slot: Date; readonly next: Date }

export function createFindDue(
  ferry: Pick<JobContext, 'pool' | 'log' | 'catchUpMs'>,
  installedAt: Date,
): FindDue {
  const broken = new Set<string>()

  return async schedules => {
    const clock = await readClock(ferry.pool)
    const asked = timesOf(schedules, clock.now)
    const states = await loadScheduleStates(ferry.pool, asked)
    const due: { schedule: TimedSchedule; slot: Due }[] = []
    let nextInMs = Number.POSITIVE_INFINITY
    for (const [index, schedule] of asked.entries()) {
      const state = states[index]
      if (!state) continue
      const slot = await dueOf(schedule, state, clock.now)
      if (slot) due.push({ schedule, slot })
      nextInMs = Math.min(nextInMs, schedule.next.getTime() - clock.now.getTime(), freeInMs(state))
    }
    return { due, nextInMs, clock }
  }

  /** The first slot of a schedule that begins at once is the moment at which somebody first looks at it. */
  async function dueOf(schedule: Asked, state: ScheduleState, now: Date): Promise<Due | null> {
    const { timing, slot: latest } = schedule
    const due = planBell(timing, latest, state, installedAt, ferry.catchUpMs, now)
    if (due || !schedule.beginsAtOnce || !state.isNew || state.paused) return due
    const first = await addFirstSlot(ferry.pool, schedule)
    return first && { slot: first, trigger: 'schedule' }
  }

  /** Accounts may share a timing, and a cron time takes milliseconds to work out. */
  function timesOf(schedules: readonly TimedSchedule[], now: Date): Asked[] {
    const timings = new Set(schedules.map(schedule => schedule.timing))
    const known = new Map([...timings].map(timing => [timing, timesUnlessBroken(timing, now)]))
    return schedules.flatMap(schedule => {
      const times = known.get(schedule.timing)
      return times ? [{ ...schedule, ...times }] : []
    })
  }

  /** A time that cannot be worked out must stop no other schedule; it is said once. */
  function timesUnlessBroken(timing: Timing, now: Date): { slot: Date; next: Date } | null {
    try {
      return { slot: slotAt(timing, now), next: slotAfter(timing, now) }
    } catch (error) {
      const name = JSON.stringify(timing)
      if (!broken.has(name)) {
        ferry.log.error({ timing, error: reasonOf(error) }, 'a time of a schedule cannot be worked out')
      }
      broken.add(name)
      return null
    }
  }
}

function freeInMs({ open }: ScheduleState): number {
  return open && open.freeInMs > 0 ? open.freeInMs : Number.POSITIVE_INFINITY
}
