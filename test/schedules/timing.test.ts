import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS } from '#src/model/duration.ts'
import { longestIntervalMs, slotAfter, slotAt, spread, weekdaysOf } from '#src/schedules/timing.ts'

describe('a job that runs every so often', () => {
  test('has its slots at multiples of the interval since 1970', () => {
    const timing = { everyMs: 60_000 }
    expect(slotAt(timing, new Date('2026-11-20T12:34:56.789Z'))).toEqual(new Date('2026-11-20T12:34:00Z'))
    expect(slotAt(timing, new Date('2026-11-20T12:34:00Z'))).toEqual(new Date('2026-11-20T12:34:00Z'))
    expect(slotAfter(timing, new Date('2026-11-20T12:34:00Z'))).toEqual(new Date('2026-11-20T12:35:00Z'))
  })
})

describe('a job of many accounts', () => {
  const names = Array.from({ length: 60 }, (_, index) => `poll/account-${index}`)
  const minute = { everyMs: 60_000 }

  test('is due at another moment for each, the same whoever works it out, and once in every interval', () => {
    const noon = new Date('2026-11-20T12:00:00Z')
    for (const name of names) {
      const timing = spread(minute, name)
      expect(spread(minute, name)).toEqual(timing)
      const first = slotAfter(timing, noon)
      expect(slotAt(timing, first)).toEqual(first)
      expect(slotAt(timing, new Date(first.getTime() - 1)).getTime()).toBe(first.getTime() - 60_000)
      expect(slotAfter(timing, first).getTime()).toBe(first.getTime() + 60_000)
    }
    const seconds = new Set(
      names.map(name => Math.floor(slotAfter(spread(minute, name), noon).getTime() / 1_000)),
    )
    expect(seconds.size).toBeGreaterThan(25)
  })

  test('keeps its cron time', () => {
    const nightly = { cron: '30 3 * * *', timezone: 'UTC' }
    expect(spread(nightly, 'any')).toBe(nightly)
  })
})

describe('a job with a cron time', () => {
  const nightly = { cron: '30 3 * * *', timezone: 'Europe/Berlin' }

  test('is due at that time of its zone', () => {
    expect(slotAt(nightly, new Date('2026-07-01T12:00:00Z'))).toEqual(new Date('2026-07-01T01:30:00Z'))
    expect(slotAt(nightly, new Date('2026-12-01T12:00:00Z'))).toEqual(new Date('2026-12-01T02:30:00Z'))
  })

  test('is due at the very instant, and not a millisecond before', () => {
    expect(slotAt(nightly, new Date('2026-12-01T02:30:00.000Z'))).toEqual(new Date('2026-12-01T02:30:00Z'))
    expect(slotAt(nightly, new Date('2026-12-01T02:29:59.999Z'))).toEqual(new Date('2026-11-30T02:30:00Z'))
  })

  test.for([
    ['the hour that does not exist', '30 2 * * *', 'Europe/Berlin', '2026-03-27T00:00:00Z'],
    ['the hour that comes twice', '30 2 * * *', 'Europe/Berlin', '2026-10-23T00:00:00Z'],
    ['the hour that does not exist', '15 2 * * *', 'America/New_York', '2026-03-06T00:00:00Z'],
    ['the hour that comes twice', '30 1 * * *', 'America/New_York', '2026-10-30T00:00:00Z'],
  ] as const)('runs once a night around %s: %s in %s', ([, cron, timezone, from]) => {
    const timing = { cron, timezone }
    const walked: number[] = []
    for (let at = new Date(from); walked.length < 5; at = slotAfter(timing, at)) {
      walked.push(slotAfter(timing, at).getTime())
    }
    const due = new Set<number>()
    for (let at = walked[0]!; at < walked.at(-1)!; at += 20 * 60_000)
      due.add(slotAt(timing, new Date(at)).getTime())
    expect([...due]).toEqual(walked.slice(0, -1))
    const justBefore = walked.slice(1).map(at => slotAt(timing, new Date(at - 1)).getTime())
    expect(justBefore).toEqual(walked.slice(0, -1))
  })

  test.for([
    ['0 0 * * *', 'Africa/Cairo', '2027-04-29T00:00:00Z', 4],
    ['0 0 * * *', 'America/Santiago', '2026-09-05T00:00:00Z', 4],
    ['30 0 * * *', 'America/Santiago', '2026-09-05T00:00:00Z', 4],
    ['0 0 * * *', 'America/Havana', '2026-03-07T00:00:00Z', 4],
    ['0 0 * * *', 'Asia/Beirut', '2026-03-28T00:00:00Z', 4],
    ['0 0 * * 0', 'America/Santiago', '2026-09-05T00:00:00Z', 2],
  ] as const)('is due even if the clock skips midnight: %s in %s', ([cron, timezone, from, count]) => {
    const timing = { cron, timezone }
    const slots: number[] = []
    const start = new Date(from).getTime()
    for (let at = start; at < start + 3 * 24 * 3_600_000; at += 30 * 60_000) {
      const slot = slotAt(timing, new Date(at)).getTime()
      expect(slot).toBeLessThanOrEqual(at)
      if (slot !== slots.at(-1)) slots.push(slot)
    }
    expect(slots).toHaveLength(count)
    expect(slots).toEqual(slots.toSorted((a, b) => a - b))
    expect(slots.slice(1)).toEqual(
      slots.slice(0, -1).map(slot => slotAfter(timing, new Date(slot)).getTime()),
    )
  })

  test('of working days waits longest over a weekend, also if the year that is looked at ends on a Friday', () => {
    const workingDays = { cron: '30 3 * * 1-5', timezone: 'UTC' }
    expect(longestIntervalMs(workingDays, new Date('2026-11-18T00:00:00Z'))).toBe(3 * DAY_MS)
  })

  test('every slot is the time it is due at', () => {
    const crons = fc.constantFrom('30 3 * * *', '*/20 * * * *', '0 6 * * 1', '5 4 1 * *')
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe')
    const year = {
      min: new Date('2026-01-01T00:00:00Z'),
      max: new Date('2026-12-31T00:00:00Z'),
      noInvalidDate: true,
    }
    fc.assert(
      fc.property(crons, zones, fc.date(year), (cron, timezone, at) => {
        const walkedFor = slotAfter({ cron, timezone }, at)
        expect(slotAt({ cron, timezone }, walkedFor)).toEqual(walkedFor)
      }),
      { numRuns: 300 },
    )
  })
})

test.for([
  ['30 3 * * *', [1, 2, 3, 4, 5, 6, 7]],
  ['30 3 * * 1-5', [1, 2, 3, 4, 5]],
  ['0 1,13 * * 0,3', [3, 7]],
  ['30 3 1 * *', null],
  ['30 3 */2 * *', null],
  ['30 3 * 1 *', null],
] as const)('the days of the week of %s', ([cron, days]) => {
  for (const timezone of ['UTC', 'Asia/Tokyo', 'America/New_York']) {
    expect(weekdaysOf({ cron, timezone }, new Date('2026-11-20T12:00Z'))).toEqual(days)
  }
  expect(weekdaysOf({ everyMs: 1_000 }, new Date())).toBeNull()
})

test.each([
  ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:00Z'],
  ['30 2 * * *', 'Europe/Berlin', '2026-03-29T00:00Z'],
  ['30 1 * * *', 'America/New_York', '2026-11-01T05:00Z'],
  ['30 2 * * *', 'America/New_York', '2026-03-08T06:00Z'],
  ['*/20 * * * *', 'Australia/Lord_Howe', '2026-04-04T14:00Z'],
])(
  'while clocks change, the time after any moment is the next that comes: %s in %s',
  (cron, timezone, from) => {
    const timing = { cron, timezone }
    for (let minute = 0; minute < 180; minute += 5) {
      const at = new Date(Date.parse(from) + minute * 60_000)
      const next = slotAfter(timing, at)
      expect(slotAt(timing, next), `${at.toISOString()}`).toEqual(next)
      expect(slotAt(timing, new Date(next.getTime() - 1)).getTime(), at.toISOString()).toBeLessThanOrEqual(
        at.getTime(),
      )
    }
  },
)
