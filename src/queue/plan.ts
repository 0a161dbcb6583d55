import type { Trigger } from '#src/model/run.ts'
import type { ScheduleState } from '#src/store/schedules.ts'
import type { Timing } from './job.ts'
import { slotAt } from './timing.ts'

/** A bell or a retry that comes this late still counts as on time, whatever `FERRY_CATCH_UP` says. */
const ON_TIME_MS = 30_000

/** How long the queue may take to bring a bell before the reconciler rings itself. */
const GRACE_MS = 2_000

export type Due = { readonly slot: Date; readonly trigger: Trigger }

/**
 * What a bell that the queue rang by itself stands for; null if it comes too late to be caught up with.
 *
 * One that comes on time stands for the slot it was rung for, even if the next one has begun meanwhile. One that comes
 * late stands for the latest slot, so that a hundred missed slots become one run.
 */
export function slotOfBell(timing: Timing, rungFor: Date, catchUpMs: number, now: Date): Due | null {
  const lateMs = now.getTime() - rungFor.getTime()
  if (lateMs > longest(catchUpMs)) return null
  const slot = slotAt(timing, lateMs > ON_TIME_MS ? now : rungFor)
  return { slot, trigger: triggerOf(timing, slot, now) }
}

/**
 * What is to be rung for a schedule now, at most one slot: the `latest`, if nobody took it and it is young enough; else
 * the latest that is unfinished and free again (it failed, was given back, or its worker died).
 *
 * Cron times from before Ferry was installed were not missed; a job that runs every so often simply begins.
 */
export function planBell(
  timing: Timing,
  latest: Date,
  state: ScheduleState,
  installedAt: Date,
  catchUpMs: number,
  now: Date,
): Due | null {
  const lateMs = now.getTime() - latest.getTime()
  const wasDue = 'everyMs' in timing || (latest >= installedAt && lateMs <= catchUpMs)
  if (!state.taken && !state.paused && wasDue && lateMs >= GRACE_MS) {
    return { slot: latest, trigger: triggerOf(timing, latest, now) }
  }
  const { open } = state
  if (!open || open.freeInMs > 0 || -open.freeInMs > longest(catchUpMs)) return null
  const byHand = slotAt(timing, open.slot).getTime() !== open.slot.getTime()
  if (state.paused && !byHand) return null
  return { slot: open.slot, trigger: byHand ? 'manual' : 'schedule' }
}

/** A job that runs every so often makes up for nothing: its latest slot is simply the one that is on. */
function triggerOf(timing: Timing, slot: Date, now: Date): Trigger {
  return 'cron' in timing && now.getTime() - slot.getTime() > ON_TIME_MS ? 'catch-up' : 'schedule'
}

function longest(catchUpMs: number): number {
  return Math.max(catchUpMs, ON_TIME_MS)
}
