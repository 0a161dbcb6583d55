import { createHash } from 'node:crypto'
import { CLOCK_CHANGE_MS, type CronTime, tickAfter, ticksFrom } from '#src/model/cron-time.ts'
import { DAY_MS } from '#src/model/duration.ts'

/** An interval since 1970 with an offset, so that slots do not depend on when a worker started; or a cron time. */
export type Timing = { readonly everyMs: number; readonly offsetMs?: number } | CronTime

/** How far back to look for the latest tick of a cron time, and how much farther each time it is not there. */
const LOOK_BACK_MS = 60_000
const FARTHER = 8

/** Fine enough to spread the accounts of one second, coarse enough to read. */
const OFFSET_STEP_MS = 100

/**
 * The same timing, shifted by a part of its interval that depends on nothing but `key`: schedules of many accounts are
 * due one after another, and every worker knows when. A cron time is left as somebody wrote it.
 */
export function spread(timing: Timing, key: string): Timing {
  if (!('everyMs' in timing)) return timing
  const steps = Math.max(1, Math.floor(timing.everyMs / OFFSET_STEP_MS))
  const offsetMs = (createHash('sha256').update(key).digest().readUInt32BE(0) % steps) * OFFSET_STEP_MS
  return { everyMs: timing.everyMs, offsetMs }
}

/** The latest time at or before `at` that the timing names. */
export function slotAt(timing: Timing, at: Date): Date {
  if (!('everyMs' in timing)) return lastTick(timing, at.getTime())
  const { everyMs, offsetMs = 0 } = timing
  return new Date(Math.floor((at.getTime() - offsetMs) / everyMs) * everyMs + offsetMs)
}

/** The first time after `after` that the timing names. */
export function slotAfter(timing: Timing, after: Date): Date {
  if ('everyMs' in timing) return new Date(slotAt(timing, after).getTime() + timing.everyMs)
  return tickAfter(timing, after)
}

/** A year of ticks has the longest weekend and both changes of the clock; a cron time that ticks often is not followed so far. */
const LOOK_AHEAD_MS = 366 * DAY_MS
const MAX_TICKS = 1_000

/** The longest time between two neighbouring times that the timing names, as far as a year from `from` tells. */
export function longestIntervalMs(timing: Timing, from: Date): number {
  if ('everyMs' in timing) return timing.everyMs
  const next = ticksFrom(timing, from.getTime())
  let last = next().getTime()
  let longest = 0
  for (let n = 0; n < MAX_TICKS && (n === 0 || last < from.getTime() + LOOK_AHEAD_MS); n++) {
    const tick = next().getTime()
    longest = Math.max(longest, tick - last)
    last = tick
  }
  return longest
}

/**
 * The days of the week, 1 (Monday) to 7 (Sunday), on which the timing is due each week. Null if it is not due by days of the
 * week alone, as far as a year from `from` tells.
 */
export function weekdaysOf(timing: Timing, from: Date): readonly number[] | null {
  if ('everyMs' in timing) return null
  const next = ticksFrom(timing, from.getTime())
  const days = new Set<number>()
  for (let n = 0; n < MAX_TICKS; n++) {
    const tick = next()
    if (tick.getTime() > from.getTime() + LOOK_AHEAD_MS) break
    const local = Temporal.Instant.fromEpochMilliseconds(tick.getTime()).toZonedDateTimeISO(timing.timezone)
    days.add(local.toPlainDate().toZonedDateTime('UTC').epochMilliseconds / DAY_MS)
  }
  const weekdays = new Set([...days].map(weekdayOf))
  // The time of today, or of tomorrow in another zone, may have passed before `from`.
  for (let day = Math.floor(from.getTime() / DAY_MS) + 2; day < Math.max(...days); day++) {
    if (weekdays.has(weekdayOf(day)) !== days.has(day)) return null
  }
  return [...weekdays].toSorted((a, b) => a - b)
}

/** Of a day since 1970, which began on a Thursday. */
function weekdayOf(day: number): number {
  return ((day + 3) % 7) + 1
}

/**
 * Walks forward only: where clocks change, cron-parser misses ticks on its way back, and where they skip midnight it
 * throws. A walk that begins during such a change may miss it too, so it begins well before.
 */
function lastTick(timing: CronTime, at: number): Date {
  for (let back = LOOK_BACK_MS; ; back *= FARTHER) {
    const next = ticksFrom(timing, at - back - CLOCK_CHANGE_MS)
    let last = Number.NEGATIVE_INFINITY
    for (let tick = next().getTime(); tick <= at; tick = next().getTime()) last = tick
    if (last >= at - back) return new Date(last)
  }
}
