import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lastHour, shareOfSpan, timeTicks } from '#src/http/console/charts/time-axis.ts'
import { shareOf, shortNumber, valueAxis } from '#src/http/console/charts/value-axis.ts'

const labels = (values: (number | null)[], isWhole = false) =>
  valueAxis(values, undefined, isWhole).ticks.map(({ label }) => label)

test('an axis of values has few round steps from 0 to the first that is not below any value', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.double())), fc.boolean(), (values, isWhole) => {
      const { top, ticks } = valueAxis(values, undefined, isWhole)
      expect(top).toBeGreaterThan(0)
      expect(Number.isFinite(top)).toBe(true)
      expect(ticks.length).toBeGreaterThan(1)
      expect(ticks.length).toBeLessThan(7)
      expect([ticks[0]?.share, ticks.at(-1)?.share]).toEqual([0, 1])
      for (const [n, { share, label }] of ticks.entries()) {
        expect(share).toBeGreaterThanOrEqual(ticks[n - 1]?.share ?? 0)
        expect(label).not.toMatch(/NaN|∞|Infinity/)
      }
      const highest = Math.max(0, ...values.map(value => (Number.isFinite(value) ? (value ?? 0) : 0)))
      expect(top).toBeGreaterThanOrEqual(Math.min(highest, 1e300) * (1 - 1e-9))
      if (highest > 1e-300) expect(top).toBeLessThanOrEqual(Math.max(highest * 3, isWhole ? 1 : 0))
      for (const value of values) {
        if (value === null || Number.isNaN(value)) continue
        expect(shareOf(value, { top, ticks })).toBeGreaterThanOrEqual(0)
        expect(shareOf(value, { top, ticks })).toBeLessThanOrEqual(1)
      }
    }),
  )
})

test.each([
  [[], ['0', '1']],
  [
    [0, 0],
    ['0', '1'],
  ],
  [
    [null, Number.NaN, Number.POSITIVE_INFINITY, -5],
    ['0', '1'],
  ],
  [[7], ['0', '2', '4', '6', '8']],
  [[0.3], ['0', '0.1', '0.2', '0.3']],
  [
    [20, 3],
    ['0', '5', '10', '15', '20'],
  ],
  [[950_000], ['0', '250K', '500K', '750K', '1M']],
] as const)('the values %j have the ticks %j', (values, wanted) => {
  expect(labels([...values])).toEqual(wanted)
})

test('counts have no tick between two of them', () => {
  expect(labels([2])).toEqual(['0', '0.5', '1', '1.5', '2'])
  expect(labels([2], true)).toEqual(['0', '1', '2'])
})

test('numbers on an axis are short', () => {
  expect([0.1 + 0.2, 9_500, 12_000, 1_234_567, 1e200].map(shortNumber)).toEqual([
    '0.3',
    '9,500',
    '12K',
    '1.23M',
    '1.0e+200',
  ])
})

const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe']
const FORMATS = new Map(
  ZONES.map(timeZone => [
    timeZone,
    {
      day: new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'short' }),
      time: new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' }),
    },
  ]),
)
const format = (zone: string) => FORMATS.get(zone)!
const YEARS = { min: new Date('2000-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }

test('ticks of time are within the span, in order, few, and at round times of the zone', () => {
  fc.assert(
    fc.property(
      fc.date(YEARS),
      fc.integer({ min: 10 * 60_000, max: 4e11 }),
      fc.constantFrom(...ZONES),
      (from, lengthMs, zone) => {
        const span = { from, to: new Date(from.getTime() + lengthMs) }
        const ticks = timeTicks(span, zone)
        expect(ticks.length).toBeGreaterThan(0)
        expect(ticks.length).toBeLessThan(15)
        expect(ticks.filter(({ isMinor }) => !isMinor).length).toBeLessThan(9)
        for (const [n, { share, label }] of ticks.entries()) {
          expect(share).toBeGreaterThan(ticks[n - 1]?.share ?? -1)
          expect(share).toBeLessThanOrEqual(1)
          const at = new Date(Math.round(from.getTime() + share * lengthMs))
          expect(label).toBe(
            label.includes(':')
              ? format(zone).time.format(at)
              : format(zone).day.format(at).replace('Sept', 'Sep'),
          )
        }
      },
    ),
  )
})

test('hours divide the day of the zone, and a midnight is labelled with its day', () => {
  const span = { from: new Date('2026-11-19T18:10:00Z'), to: new Date('2026-11-20T06:10:00Z') }
  const ticks = timeTicks(span, 'Europe/Berlin')
  expect(ticks.map(({ label }) => label).join(' ')).toBe(
    '20:00 21:00 22:00 23:00 20 Nov 01:00 02:00 03:00 04:00 05:00 06:00 07:00',
  )
  expect(
    ticks
      .filter(({ isMinor }) => !isMinor)
      .map(({ label }) => label)
      .join(' '),
  ).toBe('20:00 22:00 20 Nov 02:00 04:00 06:00')
})

test('an hour that a zone leaves out has no tick, and one that comes twice has one', () => {
  const day = (date: string) => ({
    from: new Date(`${date}T00:00:00Z`),
    to: new Date(`${date}T04:00:00Z`),
  })
  const berlin = (date: string) =>
    timeTicks(day(date), 'Europe/Berlin').map(({ share, label }) => `${label}@${share.toFixed(3)}`)
  expect(berlin('2026-03-29').join(' ')).toMatch(/^01:00@0.000 .*01:30@0.125 03:00@0.250 .*06:00@1.000$/)
  expect(berlin('2026-10-25')).toEqual(expect.arrayContaining(['02:00@0.000', '03:00@0.500', '05:00@1.000']))
})

test('weeks begin on Monday, and a span without length has no ticks and no share that is no number', () => {
  const weeks = { from: new Date('2026-09-01T00:00:00Z'), to: new Date('2026-11-20T00:00:00Z') }
  expect(timeTicks(weeks, 'UTC').map(({ label }) => label)[0]).toBe('7 Sep')
  const at = new Date('2026-09-01T00:00:00Z')
  const nothing = { from: at, to: at }
  expect(timeTicks(nothing, 'UTC')).toEqual([])
  expect(shareOfSpan(at, nothing)).toBe(0.5)
  expect(shareOfSpan(new Date(0), weeks)).toBe(0)
  expect(shareOfSpan(new Date(4e12), weeks)).toBe(1)
})

test.each([
  [9, 10, '03:01'],
  [20, 11, '03:02'],
  [50, 11, '03:05'],
  [70, 8, '03:10'],
  [130, 9, '03:15'],
  [350, 12, '03:30'],
  [700, 12, '04:00'],
  [1_400, 12, '06:00'],
  [2_000, 12, '06:00'],
  [4_000, 11, '12:00'],
  [8_000, 11, '21 Nov'],
])('an axis of %i minutes from 03:00 has %i ticks, and %s is the second', (minutes, count, second) => {
  const from = new Date('2026-11-20T03:00:00Z')
  const ticks = timeTicks({ from, to: new Date(from.getTime() + minutes * 60_000) }, 'UTC')
  expect([ticks.length, ticks[1]?.label]).toEqual([count, second])
})

test.for([
  ['2026-01-01T00:00Z', 60],
  ['2026-01-02T11:44:30Z', 15],
  ['2026-01-02T11:58Z', 10],
] as const)('the last hour is that of whole minutes, and shorter if all began at %s', ([first, length]) => {
  const { span, minutes } = lastHour(new Date('2026-01-02T11:59:59Z'), new Date(first))
  const to = Date.parse('2026-01-02T11:59Z')
  expect(span).toEqual({ from: new Date(to - length * 60_000), to: new Date(to) })
  expect(minutes.map(Number)).toEqual(Array.from({ length }, (_, n) => to - (length - n) * 60_000))
})
