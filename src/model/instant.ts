import { DAY_MS, parseDuration } from './duration.ts'

/*
 * Instants as people write them. One reader for the command line, the console and cursors: what it returns is taken by
 * Postgres and by JavaScript, a day more or less too.
 */

/** Both know years before and after these in forms of their own, or not at all. Nothing that Ferry stores is that old. */
export const FIRST_YEAR = 1_000
export const LAST_YEAR = 9_998

const FORM = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:[0-5]\d(?:\.\d{1,9})?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/

/**
 * Returns the instant of `2026-11-01`, `2026-11-01T03:30` or `2026-11-01 03:30:05.25+01:00`, in `zone` if it has no offset.
 * Null for anything else: a day that the calendar does not have, 24:00, a leap second, a year that is out of bounds.
 */
export function parseInstant(text: string, zone = 'UTC'): Date | null {
  const [, date, time = '00:00', seconds = ':00', offset] = FORM.exec(text) ?? []
  if (date === undefined) return null
  try {
    const local = Temporal.PlainDateTime.from(`${date}T${time}${seconds}`)
    if (local.year < FIRST_YEAR || local.year > LAST_YEAR) return null
    const at =
      offset === undefined
        ? local.toZonedDateTime(zone).toInstant()
        : Temporal.Instant.from(`${date}T${time}${seconds}${offset}`)
    return new Date(at.epochMilliseconds)
  } catch {
    return null
  }
}

/**
 * Returns what Postgres compares with to find what was known at an instant. Postgres has microseconds, a Date does not: what
 * happened within its millisecond is shown with that instant, so it was known then.
 */
export function endOfMillisecond(at: Date): string {
  return at.toISOString().replace('Z', '999Z')
}

/** Returns the instant so long ago: `90s`, `24h`, `7d`; null for anything else. It may be out of bounds. */
export function parseAge(text: string): Date | null {
  const [, count, unit] = /^(\d+)(ms|[smhd])$/.exec(text) ?? []
  const unitMs = unit === 'd' ? DAY_MS : parseDuration(`1${unit}`)
  return unitMs === undefined ? null : new Date(Date.now() - Number(count) * unitMs)
}

/** Whether an instant that was computed is within the same bounds. */
export function isInBounds(at: Date): boolean {
  const year = at.getUTCFullYear()
  return year >= FIRST_YEAR && year <= LAST_YEAR
}
