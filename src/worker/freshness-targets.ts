import { pollAlertRules } from '#jobs/poll-alert-rules.ts'
import { defineSchedules, type ScheduleSettings } from '#jobs/schedules.ts'
import { snapshotInventory } from '#jobs/snapshot-inventory.ts'
import type { InventoryAccount } from '#src/inventory/context.ts'
import { withSource } from '#src/inventory/sources.ts'
import type { Retention } from '#src/model/settings.ts'
import type { FreshnessTarget } from '#src/reports/freshness-targets.ts'
import { longestIntervalMs, weekdaysOf } from '#src/schedules/timing.ts'

/** An inventory that is polled may miss two polls. */
const POLL_INTERVALS = 3

/**
 * A night may be late by its retries and by the time that reading takes: after this the night is missed, and the inventory
 * is late. `ferry.nights` has it from the freshness target.
 */
export const NIGHT_GRACE_MS = 3_600_000

/** Returns how old the inventories of `accounts` may be if a worker with these settings keeps them current. */
export function freshnessTargetsOf(
  settings: ScheduleSettings & { readonly retention: Retention },
  accounts: Iterable<InventoryAccount>,
  now: Date,
): FreshnessTarget[] {
  const timingOf = (schedule: string) =>
    defineSchedules(settings).find(({ name }) => name === schedule)?.timing ?? { everyMs: 0 }
  const pollMs = POLL_INTERVALS * longestIntervalMs(timingOf(pollAlertRules.name), now)
  const nightly = timingOf(snapshotInventory.name)
  const nightMs = longestIntervalMs(nightly, now) + NIGHT_GRACE_MS
  const { timezone } = settings
  const runsKeptMs = settings.retention.runsMs
  return [...accounts].flatMap(account => [
    {
      account: account.name,
      resource: 'alert-rules',
      targetMs: pollMs,
      schedule: pollAlertRules.name,
      weekdays: null,
      timezone,
      runsKeptMs,
      folders: withSource(account, 'alert-rules', undefined, source => source.scope.folders),
    },
    {
      account: account.name,
      resource: 'mcp-servers',
      targetMs: nightMs,
      schedule: snapshotInventory.name,
      weekdays: weekdaysOf(nightly, now),
      timezone,
      runsKeptMs,
      folders: null,
    },
  ])
}
