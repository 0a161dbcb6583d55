/** As the rows of a chart, from Monday. */
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
export const HOURS_OF_DAY = Array.from({ length: 24 }, (_, hour) => `${hour}`)

/**
 * Sorts values by the weekday and the hour of their time in a zone: seven rows from Monday, of 24 counts. `combine` joins those
 * of the same hour; an hour without one is 0.
 */
export function byWeekdayAndHour(
  values: readonly { readonly at: Date; readonly value: number }[],
  timezone: string,
  combine: (one: number, other: number) => number,
): { readonly name: string; readonly counts: readonly number[] }[] {
  const counts = WEEKDAYS.map(() => HOURS_OF_DAY.map(() => 0))
  for (const { at, value } of values) {
    const { dayOfWeek, hour } = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(
      timezone,
    )
    const row = counts[dayOfWeek - 1]
    if (row) row[hour] = combine(row[hour] ?? 0, value)
  }
  return WEEKDAYS.map((name, n) => ({ name, counts: counts[n] ?? [] }))
}
