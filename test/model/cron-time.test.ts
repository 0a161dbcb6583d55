import { expect, test } from 'vitest'
import { tickAfter } from '#src/model/cron-time.ts'

const BERLIN = 'Europe/Berlin'

test.for([
  ['an ordinary night', '30 2 * * *', '2026-11-20T00:00:00Z', '2026-11-20T01:30:00Z'],
  ['its own time', '30 2 * * *', '2026-11-20T01:30:00Z', '2026-11-21T01:30:00Z'],
  ['the hour that is skipped', '30 2 * * *', '2026-03-29T01:15:00Z', '2026-03-29T01:30:00Z'],
  ['the hour that comes twice', '30 2 * * *', '2026-10-25T01:10:00Z', '2026-10-26T01:30:00Z'],
] as const)('after %s, `%s` is due at the time that all other code finds', ([, cron, after, expected]) => {
  expect(tickAfter({ cron, timezone: BERLIN }, new Date(after))).toEqual(new Date(expected))
})
