import type { Trigger } from '#src/model/run.ts'
import type { ScheduleState } from '#src/store/schedules.ts'
import type { Timing } from './job.ts'

/** A slot or a retry that comes this late still counts as on time, whatever `FERRY_CATCH_UP` says. */
const ON_TIME_MS = 30_000

export type Due = { readonly slot: Date; readonly trigger: Trigger }

/**
 * What is to be done for a schedule now, at most one slot: the `latest`, if nobody took it and it is young enough; else
 * the latest that is unfinished and free again (it failed, was given back, or its worker died). A hundred missed slots
 * are one run.
 *
 * Cron times from before Ferry was installed were not missed; a job that runs every so often simply begins. All times
 * are the database's.
 */
export function planBell(
  timing: Timing,
  latest: Date,
  state: Omit<ScheduleState, 'isNew'>,
  installedAt: Date,
  catchUpMs: number,
  now: Date,
): Due | null {
  const lateMs = now.getTime() - latest.getTime()
  const wasDue = 'everyMs' in timing || (latest >= installedAt && lateMs <= longest(catchUpMs))
  if (!state.taken && !state.paused && wasDue && lateMs >= 0) {
    return { slot: latest, trigger: triggerOf(timing, latest, now) }
  }
  const { open } = state
  if (!open || open.freeInMs > 0 || -open.freeInMs > longest(catchUpMs)) return null
  if (state.paused && !open.manual) return null
  return { slot: open.slot, trigger: open.manual ? 'manual' : 'schedule' }
}

/** A job that runs every so often makes up for nothing: its latest slot is simply the one that is on. */
function triggerOf(timing: Timing, slot: Date, now: Date): Trigger {
  return 'cron' in timing && now.getTime() - slot.getTime() > ON_TIME_MS ? 'catch-up' : 'schedule'
}

function longest(catchUpMs: number): number {
  return Math.max(catchUpMs, ON_TIME_MS)
}
