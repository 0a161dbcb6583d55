import { DAY_MS } from '#src/model/duration.ts'
import type { Tick } from './value-axis.ts'

export type TimeSpan = { readonly from: Date; readonly to: Date }

export const MINUTE_MS = 60_000
const MAX_STEPS = 12
const STEPS_OF_A_DAY_IN_MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720]
const STEPS_OF_DAYS = [1, 2, 7, 14, 28, 56, 112, 224]
/** A Monday, in days since 1970-01-01: weeks begin with it. */
const FIRST_MONDAY = 4

/** Where an instant stands in a span, from 0 to 1. A span without length has it in the middle. */
export function shareOfSpan(at: Date, { from, to }: TimeSpan): number {
  const length = to.getTime() - from.getTime()
  if (!(length > 0)) return 0.5
  return Math.min(Math.max((at.getTime() - from.getTime()) / length, 0), 1)
}

const MIN_MINUTES = 10

/** The sixty minutes before the one that `end` is in; fewer, but ten, if nothing was there before `first`. */
export function lastHour(
  end: Date,
  first: Date,
): { readonly span: TimeSpan; readonly minutes: readonly Date[] } {
  const toMs = Math.floor(end.getTime() / MINUTE_MS) * MINUTE_MS
  const since = Math.ceil((toMs - first.getTime()) / MINUTE_MS)
  const length = Math.min(60, Math.max(MIN_MINUTES, since))
  const minutes = Array.from({ length }, (_, n) => new Date(toMs - (length - n) * MINUTE_MS))
  return { span: { from: new Date(toMs - length * MINUTE_MS), to: new Date(toMs) }, minutes }
}

/**
 * At most fourteen ticks within a span, at round times of the zone: minutes that divide an hour, hours that divide a day, days,
 * weeks from Monday. A tick at midnight is labelled with its day (`20 Nov`), others with their time (`03:30`).
 */
export function timeTicks(span: TimeSpan, timezone: string): Tick[] {
  const lengthMs = span.to.getTime() - span.from.getTime()
  if (!(lengthMs > 0)) return []
  const step = STEPS_OF_A_DAY_IN_MINUTES.find(minutes => lengthMs / (minutes * MINUTE_MS) <= MAX_STEPS)
  const found = step === undefined ? wholeDays(span, timezone) : timesOfDay(span, timezone, step)
  const ticks: Tick[] = []
  for (const { atMs, label, isMinor } of found) {
    if (atMs < span.from.getTime() || atMs > span.to.getTime()) continue
    ticks.push({ share: (atMs - span.from.getTime()) / lengthMs, label, isMinor })
  }
  return ticks
}

type Found = { readonly atMs: number; readonly label: string; readonly isMinor: boolean }

function* timesOfDay({ from, to }: TimeSpan, timezone: string, minutes: number): Generator<Found> {
  const perDay = 1_440 / minutes
  let day = dayOf(from, timezone)
  for (; midnightMs(day, timezone) <= to.getTime(); day = day.add({ days: 1 })) {
    // Nothing of a day is passed over: clocks are changed by three hours at most.
    const beforeMs = from.getTime() - midnightMs(day, timezone) - 3 * 3_600_000
    for (let n = Math.max(0, Math.floor(beforeMs / (minutes * MINUTE_MS))); n < perDay; n++) {
      const plainTime = new Temporal.PlainTime(Math.floor((n * minutes) / 60), (n * minutes) % 60)
      const at = day.toZonedDateTime({ timeZone: timezone, plainTime })
      const atMs = at.epochMilliseconds
      if (atMs > to.getTime()) return
      // The zone leaves this time out when its summer begins.
      if (!at.toPlainTime().equals(plainTime)) continue
      const label = n === 0 ? dayLabel(day) : plainTime.toString({ smallestUnit: 'minute' })
      yield { atMs, label, isMinor: n % 2 === 1 }
    }
  }
}

function* wholeDays({ from, to }: TimeSpan, timezone: string): Generator<Found> {
  const days = (to.getTime() - from.getTime()) / DAY_MS
  const longest = STEPS_OF_DAYS.at(-1) ?? 1
  const step =
    STEPS_OF_DAYS.find(step => days / step <= MAX_STEPS) ?? Math.ceil(days / MAX_STEPS / longest) * longest
  const first = dayOf(from, timezone)
  const number = Math.floor(midnightMs(first, 'UTC') / DAY_MS) - FIRST_MONDAY
  let n = Math.ceil(number / step)
  for (let day = first.add({ days: n * step - number }); ; day = day.add({ days: step }), n++) {
    const atMs = midnightMs(day, timezone)
    if (atMs > to.getTime()) return
    yield { atMs, label: dayLabel(day), isMinor: n % 2 !== 0 }
  }
}

function dayOf(at: Date, timezone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone).toPlainDate()
}

function midnightMs(day: Temporal.PlainDate, timezone: string): number {
  return day.toZonedDateTime(timezone).epochMilliseconds
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function dayLabel({ day, month }: Temporal.PlainDate): string {
  return `${day} ${MONTHS[month - 1]}`
}
