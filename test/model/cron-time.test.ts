import { expect, test } from 'vitest'
import { tickAfter, ticksFrom } from '#src/model/cron-time.ts'
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

test('each night is due once in each kind of change of the clock, and an hour later if its hour is left out', () => {
  const zones = ['Europe/Berlin', 'America/Nuuk', 'Australia/Lord_Howe', 'Antarctica/Troll', 'America/Havana']
  for (const timezone of zones) {
    let now = Temporal.ZonedDateTime.from(`2026-11-25T00:00[${timezone}]`)
    for (let change = now.getTimeZoneTransition('next'); change && change.year < 2028; ) {
      now = change.add({ minutes: 1 })
      const firstDay = change.toPlainDate().subtract({ days: 2 })
      for (const hour of Array(24).keys()) {
        const time = { cron: `30 ${hour} * * *`, timezone }
        const expected = [0, 1, 2, 3].map(days =>
          firstDay.add({ days }).toPlainDateTime({ hour, minute: 30 }).toZonedDateTime(timezone),
        )
        const found = expected.map(at => tickAfter(time, new Date(at.epochMilliseconds - 1)))
        const next = expected.slice(1).map((_, n) => tickAfter(time, found[n]!))
        const expectedMs = expected.map(at => at.epochMilliseconds)
        expect(found.map(Number), `${time.cron} ${timezone}`).toEqual(expectedMs)
        expect(next.map(Number), `${time.cron} ${timezone}`).toEqual(expectedMs.slice(1))
      }
      change = now.getTimeZoneTransition('next')
    }
  }
})

test('a schedule of every hour is due in both of the hours that come twice', () => {
  const time = { cron: '0 * * * *', timezone: BERLIN }
  const next = ticksFrom(time, Date.parse('2026-10-24T23:30:00Z'))
  expect([next(), next(), next()].map(at => at.toISOString().slice(11, 13))).toEqual(['00', '01', '02'])
})
