import type { InventoryAccount } from '#src/inventory/context.ts'
import { withSource } from '#src/inventory/sources.ts'
import type { Retention } from '#src/model/retention.ts'
import type { InventoryPromise } from '#src/reports/promises.ts'
import { longestIntervalMs, weekdaysOf } from '#src/schedules/timing.ts'
import { pollAlertRules } from './poll-alert-rules.ts'
import { defineSchedules, type ScheduleSettings } from './schedules.ts'
import { snapshotInventory } from './snapshot-inventory.ts'

/** An inventory that is polled may miss two polls. */
const POLL_INTERVALS = 3

/** An inventory that is read once a night may be late by its retries and by the time that reading it takes. */
const NIGHT_GRACE_MS = 3_600_000

/** Returns how old the inventories of `accounts` may be if a worker with these settings keeps them current. */
export function promisesOf(
  settings: ScheduleSettings & { readonly retention: Retention },
  accounts: Iterable<InventoryAccount>,
  now: Date,
): InventoryPromise[] {
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
      promiseMs: pollMs,
      schedule: pollAlertRules.name,
      weekdays: null,
      timezone,
      runsKeptMs,
      folders: withSource(account, 'alert-rules', undefined, source => source.scope.folders),
    },
    {
      account: account.name,
      resource: 'mcp-servers',
      promiseMs: nightMs,
      schedule: snapshotInventory.name,
      weekdays: weekdaysOf(nightly, now),
      timezone,
      runsKeptMs,
      folders: null,
    },
  ])
}
