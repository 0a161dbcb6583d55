import { CronExpressionParser } from 'cron-parser'

export type CronTime = { readonly cron: string; readonly timezone: string }

/** No zone sets its clock by more than this. */
export const CLOCK_CHANGE_MS = 2 * 3_600_000

/** Returns what gives the times that are named, one after the other, the first after `from` first. */
export function ticksFrom({ cron, timezone }: CronTime, from: number): () => Date {
  let ticks = CronExpressionParser.parse(cron, { currentDate: new Date(from), tz: timezone })
  let last = from
  return () => {
    try {
      last = ticks.next().getTime()
    } catch {
      // cron-parser cannot walk over a change of half an hour, as in Lord Howe: it gives up after a second.
      last = tickOfLocalTime({ cron, timezone }, last)
      ticks = CronExpressionParser.parse(cron, { currentDate: new Date(last), tz: timezone })
    }
    return new Date(last)
  }
}

/** The first time after `after` by a clock on the wall, which has an hour that is repeated only once. */
function tickOfLocalTime({ cron, timezone }: CronTime, after: number): number {
  const wall = Temporal.Instant.fromEpochMilliseconds(after - CLOCK_CHANGE_MS).toZonedDateTimeISO(timezone)
  const currentDate = new Date(wall.toPlainDateTime().toZonedDateTime('UTC').epochMilliseconds)
  const ticks = CronExpressionParser.parse(cron, { currentDate, tz: 'UTC' })
  for (;;) {
    const local = Temporal.Instant.from(ticks.next().toDate().toISOString()).toZonedDateTimeISO('UTC')
    const at = local.toPlainDateTime().toZonedDateTime(timezone).epochMilliseconds
    if (at > after) return at
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
