import { type CronExpression, CronExpressionParser } from 'cron-parser'

export type CronTime = { readonly cron: string; readonly timezone: string }

/** No zone sets its clock by more than this. */
export const CLOCK_CHANGE_MS = 2 * 3_600_000

function parsed({ cron, timezone }: CronTime, from: number) {
  return CronExpressionParser.parse(cron, { currentDate: new Date(from), tz: timezone })
}

/** Returns what gives the times that are named, one after the other, the first after `from` first. */
export function ticksFrom(time: CronTime, from: number): () => Date {
  const ticks = parsed(time, from)
  return ticks.fields.hour.values.length === HOURS
    ? ticksOfEveryHour(time, ticks, from)
    : ticksOfDays(time, from)
}

const HOURS = 24

/** In an hour that comes twice, the times come twice too. */
function ticksOfEveryHour(time: CronTime, first: CronExpression, from: number): () => Date {
  let ticks = first
  let last = from
  return () => {
    try {
      last = ticks.next().getTime()
    } catch {
      // cron-parser cannot walk over a change of half an hour, as in Lord Howe: it gives up after a second.
      last = ticksOfDays(time, last)().getTime()
      ticks = parsed(time, last)
    }
    return new Date(last)
  }
}

/**
 * Each time once, by a clock on the wall, which has an hour that is repeated only once. cron-parser leaves some times out where clocks
 * change, as 22:00 in Nuuk; it never does in UTC.
 */
function ticksOfDays({ cron, timezone }: CronTime, from: number): () => Date {
  const wall = Temporal.Instant.fromEpochMilliseconds(from - CLOCK_CHANGE_MS).toZonedDateTimeISO(timezone)
  const wallMs = wall.toPlainDateTime().toZonedDateTime('UTC').epochMilliseconds
  const ticks = parsed({ cron, timezone: 'UTC' }, wallMs)
  let last = from
  return () => {
    for (;;) {
      const local = Temporal.Instant.fromEpochMilliseconds(ticks.next().getTime()).toZonedDateTimeISO('UTC')
      const at = local.toPlainDateTime().toZonedDateTime(timezone).epochMilliseconds
      if (at <= last) continue
      last = at
      return new Date(at)
    }
  }
}

/** The first time after `after` that is named. A walk that begins during a change of the clock may miss it, so it begins before. */
export function tickAfter(time: CronTime, after: Date): Date {
  const next = ticksFrom(time, after.getTime() - CLOCK_CHANGE_MS)
  for (;;) {
    const tick = next()
    if (tick > after) return tick
  }
}
