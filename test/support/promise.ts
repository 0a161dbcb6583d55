/** What a worker with the default settings promises of the alert rules of its account, but for the time runs are kept. */
export const PROMISE = {
  account: 'default',
  resource: 'alert-rules',
  promiseMs: 180_000,
  runsKeptMs: null,
  schedule: 'poll-alert-rules',
  timezone: 'UTC',
  weekdays: null,
  folders: ['0'],
} as const
