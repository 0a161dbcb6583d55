import { expect, test } from 'vitest'
import { defineSchedules } from '#jobs/schedules.ts'

const SETTINGS = {
  pollEveryMs: 60_000,
  mcpPollEveryMs: 900_000,
  nightlyCron: '30 3 * * *',
  timezone: 'Europe/Kyiv',
}

const POLL = { perAccount: true, beginsAtOnce: false, retryAfterMs: [], skippedAgainAfterMs: null }

test('all that Ferry does by itself has its time, what begins it, and what happens after a failure', () => {
  expect(defineSchedules(SETTINGS)).toEqual([
    { ...POLL, name: 'poll-alert-rules', timing: { everyMs: 60_000 } },
    { ...POLL, name: 'poll-mcp-servers', timing: { everyMs: 900_000 } },
    {
      name: 'snapshot-inventory',
      perAccount: true,
      timing: { cron: '30 3 * * *', timezone: 'Europe/Kyiv' },
      beginsAtOnce: true,
      retryAfterMs: [60_000, 120_000, 240_000, 480_000],
      skippedAgainAfterMs: 60_000,
    },
    {
      name: 'prune',
      perAccount: false,
      timing: { cron: '15 4 * * *', timezone: 'Europe/Kyiv' },
      beginsAtOnce: false,
      isNeverTooLate: true,
      retryAfterMs: [],
      skippedAgainAfterMs: null,
    },
  ])
})

test('without a time of their own, MCP servers are synced with the nightly snapshot only', () => {
  const names = defineSchedules({ ...SETTINGS, mcpPollEveryMs: null }).map(({ name }) => name)
  expect(names).toEqual(['poll-alert-rules', 'snapshot-inventory', 'prune'])
})
