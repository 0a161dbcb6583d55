import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { type ClockReading, readClock } from '#src/db/clock.ts'
import { reasonOf } from '#src/model/reason.ts'
import { addFirstSlot } from './add-slot.ts'
import type { Schedule } from './definition.ts'
import { type Due, decideDue } from './due.ts'
import { loadScheduleStates, type ScheduleState } from './schedule-states.ts'
import { slotAfter, slotAt, type Timing } from './timing.ts'

/** What is due, by what Postgres knows and by its clock: every worker learns the same, however wrong its own clock. */
export type DueNow = {
  readonly due: readonly { readonly schedule: Schedule; readonly slot: Due }[]
  /** In how many milliseconds something may be due that is not due now; Infinity if nothing will. */
  readonly nextInMs: number
  readonly clock: ClockReading
}

export type FindDue = (schedules: readonly Schedule[]) => Promise<DueNow>

export type DueSettings = {
  readonly pool: Pool
  readonly log: Logger
  /** A slot that was missed while no worker was up is caught up with if it is younger than this. */
  readonly catchUpMs: number
  /** Cron times before this were not missed. */
  readonly installedAt: Date
}

type Asked = Schedule & { readonly slot: Date; readonly next: Date }

export function createFindDue({ pool, log, catchUpMs, installedAt }: DueSettings): FindDue {
  const broken = new Set<string>()
  /** What is to be added to `performance.now()` for the time of the database, as it was read last. */
  let clockOffsetMs: number | null = null

  return async schedules => {
    const { clock, asked, states } = await loadStates(schedules)
    const due: { schedule: Schedule; slot: Due }[] = []
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

  /**
   * Asks for the slots of about now, and learns with them what time it is: one statement, for every look of every worker.
   * If other slots are the latest by then, because one has just begun or the machine slept, it asks again.
   */
  async function loadStates(schedules: readonly Schedule[]) {
    const guess =
      clockOffsetMs === null ? null : timesOf(schedules, new Date(performance.now() + clockOffsetMs))
    const found = guess && (await loadScheduleStates(pool, guess))
    const now = found?.clock?.now
    if (guess && found?.clock && now && guess.every(one => one.slot <= now && now < one.next)) {
      clockOffsetMs = now.getTime() - performance.now()
      return { clock: found.clock, asked: guess, states: found.states }
    }
    const clock = await readClock(pool)
    clockOffsetMs = clock.now.getTime() - performance.now()
    const asked = timesOf(schedules, clock.now)
    return { clock, asked, states: (await loadScheduleStates(pool, asked)).states }
  }

  /** The first slot of a schedule that begins at once is the moment at which a worker first looks at it. */
  async function dueOf(schedule: Asked, state: ScheduleState, now: Date): Promise<Due | null> {
    const { timing, slot: latest } = schedule
    const due = decideDue(timing, latest, state, installedAt, catchUpMs, now)
    if (due || !schedule.beginsAtOnce || !state.isNew || state.paused) return due
    const first = await addFirstSlot(pool, schedule)
    return first && { slot: first, trigger: 'schedule' }
  }

  /** Accounts may share a timing, and a cron time takes milliseconds to compute. */
  function timesOf(schedules: readonly Schedule[], now: Date): Asked[] {
    const timings = new Set(schedules.map(schedule => schedule.timing))
    const known = new Map([...timings].map(timing => [timing, timesUnlessBroken(timing, now)]))
    return schedules.flatMap(schedule => {
      const times = known.get(schedule.timing)
      return times ? [{ ...schedule, ...times }] : []
    })
  }

  /** A time that cannot be computed must stop no other schedule; it is logged once. */
  function timesUnlessBroken(timing: Timing, now: Date): { slot: Date; next: Date } | null {
    try {
      return { slot: slotAt(timing, now), next: slotAfter(timing, now) }
    } catch (error) {
      const name = JSON.stringify(timing)
      if (!broken.has(name)) {
        log.error({ timing, error: reasonOf(error) }, 'The next time of a schedule cannot be computed.')
      }
      broken.add(name)
      return null
    }
  }
}

function freeInMs({ open }: ScheduleState): number {
  return open && open.freeInMs > 0 ? open.freeInMs : Number.POSITIVE_INFINITY
}
