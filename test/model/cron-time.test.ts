import { expect, test } from 'vitest'
import { tickAfter } from '#src/model/cron-time.ts'
import { longestIntervalMs } from '#src/schedules/timing.ts'

const BERLIN = 'Europe/Berlin'

test.for([
  ['an ordinary night', '30 2 * * *', '2026-11-20T00:00:00Z', '2026-11-20T01:30:00Z'],
  ['its own time', '30 2 * * *', '2026-11-20T01:30:00Z', '2026-11-21T01:30:00Z'],
  ['the hour that is skipped', '30 2 * * *', '2026-03-29T01:15:00Z', '2026-03-29T01:30:00Z'],
  ['the hour that comes twice', '30 2 * * *', '2026-10-25T01:10:00Z', '2026-10-26T01:30:00Z'],
] as const)('after %s, `%s` is due at the time that all other code finds', ([, cron, after, expected]) => {
  expect(tickAfter({ cron, timezone: BERLIN }, new Date(after))).toEqual(new Date(expected))
})

test.for([
  ['0 1 * * *', '02T14:00', '03T14:00'],
  ['0 4 * * *', '03T17:30', '04T17:30'],
  ['0,45 4 * * *', '03T17:30', '03T18:15'],
] as const)('`%s` is due each night where clocks are set back by half an hour', ([cron, ...ticks]) => {
  const [one, next] = ticks.map(tick => new Date(`2027-04-${tick}Z`)) as [Date, Date]
  expect(tickAfter({ cron, timezone: 'Australia/Lord_Howe' }, one)).toEqual(next)
})

test('a worker finds the longest time between such nights', () => {
  const time = { cron: '0 4 * * *', timezone: 'Australia/Lord_Howe' }
  expect(longestIntervalMs(time, new Date('2027-04-01'))).toBe(24.5 * 3_600_000)
})
