import type { Trigger } from '#src/model/run.ts'
import type { ScheduleState } from './schedule-states.ts'
import type { Timing } from './timing.ts'

/** A slot or a retry that is this late still counts as on time, whatever `FERRY_CATCH_UP` says. */
const ON_TIME_MS = 30_000

export type Due = { readonly slot: Date; readonly trigger: Trigger }

/**
 * Decides which slot of a schedule is due now, at most one: the `latest`, if nobody took it and it is young enough; else
 * the latest that is unfinished and free again (it failed, was given back, or its worker died). A hundred missed slots
 * are one run.
 *
 * Cron times from before Ferry was installed were not missed; a schedule that runs every so often simply begins. All
 * times are the database's.
 */
export function decideDue(
  timing: Timing,
  latest: Date,
  state: Omit<ScheduleState, 'isNew'>,
  installedAt: Date,
  catchUpMs: number,
  now: Date,
): Due | null {
  const lateMs = now.getTime() - latest.getTime()
  const wasDue = 'everyMs' in timing || (latest >= installedAt && lateMs <= graceMs(catchUpMs))
  if (!state.taken && !state.paused && wasDue && lateMs >= 0) {
    return { slot: latest, trigger: triggerOf(timing, latest, now) }
  }
  const { open } = state
  if (!open || open.freeInMs > 0 || -open.freeInMs > graceMs(catchUpMs)) return null
  if (state.paused && !open.manual) return null
  return { slot: open.slot, trigger: open.manual ? 'manual' : 'schedule' }
}

/** A schedule that runs every so often catches up with nothing: its latest slot is simply the current one. */
function triggerOf(timing: Timing, slot: Date, now: Date): Trigger {
  return 'cron' in timing && now.getTime() - slot.getTime() > ON_TIME_MS ? 'catch-up' : 'schedule'
}

function graceMs(catchUpMs: number): number {
  return Math.max(catchUpMs, ON_TIME_MS)
}
