import { CronExpressionParser } from 'cron-parser'

export type CronTime = { readonly cron: string; readonly timezone: string }

/** No zone sets its clock by more than this. */
export const CLOCK_CHANGE_MS = 2 * 3_600_000

/** The times that are named, the first after `from` first. */
export function ticksFrom({ cron, timezone }: CronTime, from: number) {
  return CronExpressionParser.parse(cron, { currentDate: new Date(from), tz: timezone })
}

/** The first time after `after` that is named. A walk that begins during a change of the clock may miss it, so it begins before. */
export function tickAfter(time: CronTime, after: Date): Date {
  const ticks = ticksFrom(time, after.getTime() - CLOCK_CHANGE_MS)
  for (;;) {
    const tick = ticks.next().toDate()
    if (tick > after) return tick
  }
}
