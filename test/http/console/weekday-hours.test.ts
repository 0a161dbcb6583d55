import { expect, test } from 'vitest'
import { byWeekdayAndHour } from '#src/http/console/parts/weekday-hours.ts'

const value = (at: string, value = 1) => ({ at: new Date(at), value })
const add = (one: number, other: number) => one + other
const filled = (rows: ReturnType<typeof byWeekdayAndHour>) =>
  rows.flatMap(({ name, counts }) =>
    counts.flatMap((count, hour) => (count > 0 ? [[name, hour, count]] : [])),
  )

test('an instant is counted at the weekday and the hour that it has in the zone', () => {
  // A Sunday evening in UTC is a Monday morning in Nepal, whose hours begin at a quarter.
  const values = [
    value('2026-11-22T18:30:00Z'),
    value('2026-11-22T18:00:00Z'),
    value('2026-11-15T18:45:00Z', 4),
  ]
  expect(filled(byWeekdayAndHour(values, 'Asia/Kathmandu', add))).toEqual([
    ['Mon', 0, 5],
    ['Sun', 23, 1],
  ])
  expect(filled(byWeekdayAndHour(values, 'UTC', Math.max))).toEqual([['Sun', 18, 4]])
})

test('an hour that comes twice when summer ends is one row of the chart', () => {
  const values = [value('2026-10-25T00:30:00Z'), value('2026-10-25T01:30:00Z')]
  expect(filled(byWeekdayAndHour(values, 'Europe/Berlin', add))).toEqual([['Sun', 2, 2]])
})

test('without values, all seven days have 24 hours of 0', () => {
  const rows = byWeekdayAndHour([], 'UTC', add)
  expect(rows.map(({ name }) => name).join(' ')).toBe('Mon Tue Wed Thu Fri Sat Sun')
  expect(rows.every(({ counts }) => counts.length === 24 && counts.every(count => count === 0))).toBe(true)
})
