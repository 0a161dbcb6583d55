import { CronExpressionParser } from 'cron-parser'
import type { Timing } from './job.ts'

/** No zone sets its clock by more than this. */
const CLOCK_CHANGE_MS = 2 * 3_600_000

/** The latest time at or before `at` that the timing names. */
export function slotAt(timing: Timing, at: Date): Date {
  if ('everyMs' in timing) return new Date(Math.floor(at.getTime() / timing.everyMs) * timing.everyMs)
  return lastTick(timing, at.getTime())
}

/** The first time after `after` that the timing names. */
export function slotAfter(timing: Timing, after: Date): Date {
  if ('everyMs' in timing) return new Date(slotAt(timing, after).getTime() + timing.everyMs)
  return parseFrom(timing, after.getTime()).next().toDate()
}

/**
 * Where clocks change, cron-parser does not find on the way back every time it finds on the way forward, and bells are
 * rung on the way forward: so go back far enough, then walk forward.
 */
function lastTick(timing: Cron, at: number): Date {
  const roughly = parseFrom(timing, at + 1)
    .prev()
    .getTime()
  const ticks = parseFrom(timing, roughly - CLOCK_CHANGE_MS)
  let last = roughly
  for (let tick = ticks.next().getTime(); tick <= at; tick = ticks.next().getTime()) last = tick
  return new Date(last)
}

type Cron = Extract<Timing, { cron: string }>

function parseFrom({ cron, timezone }: Cron, from: number) {
  return CronExpressionParser.parse(cron, { currentDate: new Date(from), tz: timezone })
}
