import type { Pool } from 'pg'
import { pollAlertRules } from '#jobs/poll-alert-rules.ts'
import { pollMcpServers } from '#jobs/poll-mcp-servers.ts'
import { defineSchedules, type ScheduleSettings } from '#jobs/schedules.ts'
import { snapshotInventory } from '#jobs/snapshot-inventory.ts'
import type { InventoryAccount } from '#src/inventory/context.ts'
import { withSource } from '#src/inventory/sources.ts'
import type { Retention } from '#src/model/settings.ts'
import { type FreshnessTarget, listNightTimes } from '#src/reports/freshness-targets.ts'
import type { ScheduleKey } from '#src/schedules/definition.ts'
import { longestIntervalMs, weekdaysOf } from '#src/schedules/timing.ts'

/** An inventory that is polled may miss two polls. */
const POLL_INTERVALS = 3

/**
 * A night may be late by its retries and by the time that reading takes: after this the night is missed, and the inventory
 * is late. `ferry.nights` has it from the freshness target.
 */
export const NIGHT_GRACE_MS = 3_600_000

/** Since when nights are due as they are, by the freshness target; null of any other schedule. */
export async function timedSince(pool: Pool, { schedule, account }: ScheduleKey): Promise<Date | null> {
  if (schedule !== snapshotInventory.name) return null
  const [night] = await listNightTimes(pool, [account])
  return night?.since ?? null
}

/** Returns how old the inventories of `accounts` may be if a worker with these settings keeps them current. */
export function freshnessTargetsOf(
  settings: ScheduleSettings & { readonly retention: Retention },
  accounts: Iterable<InventoryAccount>,
  now: Date,
): FreshnessTarget[] {
  const definitions = defineSchedules(settings)
  const timingOf = (schedule: string) => definitions.find(({ name }) => name === schedule)?.timing
  const polled = (schedule: string) => {
    const timing = timingOf(schedule)
    return timing && { schedule, targetMs: POLL_INTERVALS * longestIntervalMs(timing, now) }
  }
  const nightly = timingOf(snapshotInventory.name) ?? { everyMs: 0 }
  const nightMs = longestIntervalMs(nightly, now) + NIGHT_GRACE_MS
  const byNight = { schedule: snapshotInventory.name, targetMs: nightMs }
  const same = {
    nightMs,
    nightlyCron: 'cron' in nightly ? nightly.cron : null,
    weekdays: weekdaysOf(nightly, now),
    timezone: settings.timezone,
    runsKeptMs: settings.retention.runsMs,
  }
  return [...accounts].flatMap(account => [
    {
      ...same,
      ...(polled(pollAlertRules.name) ?? byNight),
      account: account.name,
      resource: 'alert-rules',
      folders: withSource(account, 'alert-rules', undefined, source => source.scope.folders),
    },
    {
      ...same,
      ...(polled(pollMcpServers.name) ?? byNight),
      account: account.name,
      resource: 'mcp-servers',
      folders: null,
    },
  ])
}
