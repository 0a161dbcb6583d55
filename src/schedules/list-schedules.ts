import type { Pool } from 'pg'
import { readClock } from '#src/db/clock.ts'
import type { Schedule, ScheduleKey } from './definition.ts'
import { loadPauses } from './pauses.ts'
import { loadLastSlots } from './schedule-states.ts'
import { slotAfter } from './timing.ts'

/** One line of `ferry schedules list`. */
export type ScheduleRow = {
  readonly name: string
  /** `*` for a schedule that is not per account. */
  readonly account: string
  /** Either this, */
  readonly everyMs: number | null
  /** or this, read in this time zone. */
  readonly cron: string | null
  readonly timezone: string | null
  readonly paused: boolean
  /** Null while paused. */
  readonly nextAt: Date | null
  readonly lastSlot: Date | null
  /** Null while the last slot is under way or waits to be tried again. */
  readonly lastOutcome: string | null
}

/** All from Postgres and the settings, so it needs no queue. */
export async function listSchedules(pool: Pool, schedules: readonly Schedule[]): Promise<ScheduleRow[]> {
  const pauses = new Set((await loadPauses(pool)).map(idOf))
  const last = new Map((await loadLastSlots(pool)).map(slot => [idOf(slot), slot]))
  const { now } = await readClock(pool)
  return schedules.map(schedule => {
    const { timing } = schedule
    const paused = pauses.has(idOf(schedule))
    return {
      name: schedule.schedule,
      account: schedule.account,
      everyMs: 'everyMs' in timing ? timing.everyMs : null,
      cron: 'cron' in timing ? timing.cron : null,
      timezone: 'cron' in timing ? timing.timezone : null,
      paused,
      nextAt: paused ? null : slotAfter(timing, now),
      lastSlot: last.get(idOf(schedule))?.slot ?? null,
      lastOutcome: last.get(idOf(schedule))?.outcome ?? null,
    }
  })
}

function idOf({ schedule, account }: ScheduleKey): string {
  return `${schedule}/${account}`
}
