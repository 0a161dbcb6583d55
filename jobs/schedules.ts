import type { ScheduleDefinition } from '#src/schedules/definition.ts'
import { pollAlertRules } from './poll-alert-rules.ts'
import { pollMcpServers } from './poll-mcp-servers.ts'
import { prune } from './prune.ts'
import { snapshotInventory } from './snapshot-inventory.ts'

export type ScheduleSettings = {
  readonly pollEveryMs: number
  /** Null: MCP servers are not polled. */
  readonly mcpPollEveryMs: number | null
  readonly nightlyCron: string
  /** The time zone in which cron times are read. */
  readonly timezone: string
}

const MINUTE = 60_000

/** All that Ferry does by itself, and when. The name of a schedule is the name of the job it sets off. */
export function defineSchedules({
  pollEveryMs,
  mcpPollEveryMs,
  nightlyCron,
  timezone,
}: ScheduleSettings): readonly ScheduleDefinition[] {
  return [
    pollOf(pollAlertRules.name, pollEveryMs),
    ...(mcpPollEveryMs === null ? [] : [pollOf(pollMcpServers.name, mcpPollEveryMs)]),
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
      // Addresses must not outlive their time because workers run at other hours only.
      isNeverTooLate: true,
      // A day without it does no harm.
      retryAfterMs: [],
      skippedAgainAfterMs: null,
    },
  ]
}

function pollOf(name: string, everyMs: number): ScheduleDefinition {
  return {
    name,
    perAccount: true,
    timing: { everyMs },
    beginsAtOnce: false,
    // The next poll comes soon enough.
    retryAfterMs: [],
    skippedAgainAfterMs: null,
  }
}
