/** What a worker with the default settings targets of the alert rules of its account, but for the time runs are kept. */
export const FRESHNESS_TARGET = {
  account: 'default',
  resource: 'alert-rules',
  targetMs: 180_000,
  nightMs: 90_000_000,
  runsKeptMs: null,
  schedule: 'poll-alert-rules',
  timezone: 'UTC',
  weekdays: null,
  folders: ['0'],
} as const
