import { CronExpressionParser } from 'cron-parser'
import { DAY } from './ask.ts'

export const MINUTE_MS = 60_000
export const WEEK_MS = 7 * DAY * MINUTE_MS

/** Every minute of the week (or of another time) in which these schedules are due, with how many of them, as cron-parser has it. */
export function expected(
  begins: Date,
  schedules: readonly (readonly [string, string | null])[],
  lastsMs = WEEK_MS,
): Map<number, number> {
  const due = new Map<number, number>()
  for (const [pattern, zone] of schedules) {
    const options = {
      currentDate: new Date(begins.getTime() - 1),
      endDate: new Date(begins.getTime() + lastsMs - 1),
      tz: zone || 'Asia/Shanghai',
    }
    const times = CronExpressionParser.parse(pattern, options)
    while (times.hasNext()) {
      const at = times.next().getTime()
      due.set(at, (due.get(at) ?? 0) + 1)
    }
  }
  return due
}
