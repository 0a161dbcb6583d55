import { expect, test } from 'vitest'
import { parseInstant } from '#src/model/instant.ts'

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
