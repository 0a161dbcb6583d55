import type { ScheduleDefinition } from '#src/schedules/definition.ts'
import { pollAlertRules } from './poll-alert-rules.ts'
import { prune } from './prune.ts'
import { snapshotInventory } from './snapshot-inventory.ts'

export type ScheduleSettings = {
  readonly pollEveryMs: number
  readonly nightlyCron: string
  /** The time zone in which cron times are read. */
  readonly timezone: string
}

const MINUTE = 60_000

/** All that Ferry does by itself, and when. The name of a schedule is the name of the job it sets off. */
export function defineSchedules({
  pollEveryMs,
  nightlyCron,
  timezone,
}: ScheduleSettings): readonly ScheduleDefinition[] {
  return [
    {
      name: pollAlertRules.name,
      perAccount: true,
      timing: { everyMs: pollEveryMs },
      beginsAtOnce: false,
      // The next poll comes soon enough.
      retryAfterMs: [],
      skippedAgainAfterMs: null,
    },
    {
      name: snapshotInventory.name,
      perAccount: true,
      timing: { cron: nightlyCron, timezone },
      beginsAtOnce: true,
      // There is one a night, so it is worth several attempts.
      retryAfterMs: [1 * MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE],
      skippedAgainAfterMs: 1 * MINUTE,
    },
    {
      name: prune.name,
      perAccount: false,
      timing: { cron: '15 4 * * *', timezone },
      beginsAtOnce: false,
      // A day without it does no harm.
      retryAfterMs: [],
      skippedAgainAfterMs: null,
    },
  ]
}
