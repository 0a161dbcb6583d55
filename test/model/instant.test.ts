import { expect, test, vi } from 'vitest'
import { endOfMillisecond, isInBounds, parseAge, parseInstant } from '#src/model/instant.ts'

/** What Postgres or Date take otherwise than a person means it, or do not take at all. */
const NO_INSTANTS = [
  '0000-01-01',
  '0000-01-01T00:00:00Z',
  '0001-01-01',
  '0999-12-31',
  '9999-12-31',
  '-000001-01-01T00:00:00Z',
  '+010000-01-01T00:00:00Z',
  '10000-01-01',
  '275760-09-13T00:00:00Z',
  '-1',
  'infinity',
  '-infinity',
  'now',
  '2026-01-01 BC',
  '2026-02-30',
  '2026-13-01',
  '2026-00-10',
  '2026-11-20T24:00',
  '2026-11-20T23:60',
  '2016-12-31T23:59:60Z',
  '2026-11-20T03:30+99:00',
  '2026-11-20T03:30[Europe/Berlin]',
  '2026-11-20T03:30z',
  'NaN',
  '',
]

test.for(NO_INSTANTS)('%s is no instant', text => {
  expect(parseInstant(text)).toBeNull()
})

test.for([
  ['2026-11-20', 'UTC', '2026-11-20T00:00:00.000Z'],
  ['2026-11-20T03:30', 'Europe/Berlin', '2026-11-20T02:30:00.000Z'],
  ['2026-11-20 03:30:05.25', 'UTC', '2026-11-20T03:30:05.250Z'],
  ['2026-11-20T03:30Z', 'Europe/Berlin', '2026-11-20T03:30:00.000Z'],
  ['2026-11-20 03:30:05.123456+00', 'Europe/Berlin', '2026-11-20T03:30:05.123Z'],
  ['2026-11-20T03:30:05-08:30', 'UTC', '2026-11-20T12:00:05.000Z'],
  ['2024-02-29', 'UTC', '2024-02-29T00:00:00.000Z'],
  ['1000-01-01', 'UTC', '1000-01-01T00:00:00.000Z'],
  ['9998-12-31T23:59:59Z', 'UTC', '9998-12-31T23:59:59.000Z'],
] as const)('%s in %s is %s', ([text, zone, expected]) => {
  expect(parseInstant(text, zone)?.toISOString()).toBe(expected)
})

test('an instant stands for its whole millisecond in Postgres', () => {
  expect(endOfMillisecond(new Date('2026-11-20T03:30:05.123Z'))).toBe('2026-11-20T03:30:05.123999Z')
})

test('an age is an instant so long ago', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-20T12:00:00Z') })
  try {
    const ages = ['5ms', '90s', '10m', '24h', '7d', '7w', '1.5h', '-1h', '1 h', 'h', ''].map(parseAge)
    expect(ages.map(at => at?.toISOString() ?? null)).toEqual([
      '2026-11-20T11:59:59.995Z',
      '2026-11-20T11:58:30.000Z',
      '2026-11-20T11:50:00.000Z',
      '2026-11-19T12:00:00.000Z',
      '2026-11-13T12:00:00.000Z',
      ...Array(6).fill(null),
    ])
  } finally {
    vi.useRealTimers()
  }
})

test('the years from 1000 to 9998 are in bounds', () => {
  const instants = ['0999-12-31T23:59:59Z', '1000-01-01', '9998-12-31T23:59:59Z', '9999-01-01']
  expect(instants.map(at => isInBounds(new Date(at)))).toEqual([false, true, true, false])
})
