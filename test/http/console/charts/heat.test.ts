import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type HeatChart, heatChart, levelsFor } from '#src/http/console/charts/heat.ts'

const CHART: HeatChart = {
  id: 'when',
  title: 'When episodes begin',
  unit: 'episodes that began',
  head: 'Weekday',
  columns: ['0', '12'],
  rows: [
    { name: 'Mon', counts: [0, 4] },
    { name: 'Tue', counts: [100, 1] },
  ],
}

const draw = (chart: Partial<HeatChart> = {}) => String(heatChart({ ...CHART, ...chart }))
const levels = (page: string) =>
  [...page.matchAll(/<g class="heat heat-(\d)"><rect x/g)].map(([, level]) => Number(level))

test('a cell is the stronger the higher its count is; only 0 is empty', () => {
  expect(levels(draw())).toEqual([0, 1, 5, 1])
  expect(levels(draw({ rows: [{ name: 'Mon', counts: [1, 2] }] }))).toEqual([4, 5])
})

test('levels are whole numbers that grow, up to the highest count', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (one, other) => {
      const [lowest, highest] = [Math.min(one, other), Math.max(one, other, 1)]
      const bounds = levelsFor(lowest, highest)
      expect(bounds.at(-1)).toBe(highest)
      expect(bounds.length).toBeLessThanOrEqual(5)
      for (const [n, bound] of bounds.entries()) expect(bound).toBeGreaterThan(bounds[n - 1] ?? lowest - 1)
    }),
  )
  expect(levelsFor(0, 100)).toEqual([4, 16, 36, 64, 100])
  expect(levelsFor(0, 0)).toEqual([])
})

test('counts that are all high differ all the same', () => {
  const page = draw({ rows: [{ name: 'Mon', counts: [44_210, 54_000] }] })
  expect(levels(page)).toEqual([1, 5])
  const legend = [...page.matchAll(/<li>.*?<\/li>/g)].map(([item]) => item.replace(/<[^>]*>/g, ''))
  expect([legend[0], legend.at(-1)]).toEqual(['44,210–44,601', '50,476–54,000'])
  expect(page).toContain('>44K</text>')
})

test('the legend says which counts a level has, and the highest is named in words', () => {
  const page = draw()
  const legend = [...page.matchAll(/<li>.*?<\/li>/g)].map(([item]) => item.replace(/<[^>]*>/g, ''))
  expect(legend).toEqual(['0', '1–4', '5–16', '17–36', '37–64', '65–100'])
  expect(page).toContain('When episodes begin (episodes that began). The highest: Tue 0, 100.')
  expect(draw({ rows: [{ name: 'Mon', counts: [0, 1] }] })).toContain('The highest: Mon 12, 1.')
  expect(draw({ rows: [{ name: 'Mon', counts: [0, 0] }] })).toContain('All are 0.')
  expect(page).toContain('<title>Mon 12: 4</title>')
})

test('the table has all counts', () => {
  const cells = [...draw().matchAll(/<t[dh]( [^>]*)?>(.*?)<\/t[dh]>/g)].map(match => match[2])
  expect(cells).toEqual(['Weekday', '0', '12', 'Mon', '0', '4', 'Tue', '100', '1'])
})

test.each([
  ['no rows', []],
  ['all zero', [{ name: 'Mon', counts: [0, 0] }]],
  ['too few counts', [{ name: 'Mon', counts: [] }]],
  ['no numbers', [{ name: 'Mon', counts: [Number.NaN, Number.POSITIVE_INFINITY] }]],
  ['huge and below zero', [{ name: 'Mon', counts: [1e300, -4] }]],
])('%s: no coordinate that is no number', (_, rows) => {
  const page = draw({ rows })
  expect(page).not.toMatch(/NaN|Infinity|undefined|heat--/)
})

test('names of others are text', () => {
  const name = '"><script>alert(1)</script>'
  expect(
    draw({ title: name, unit: name, head: name, columns: [name], rows: [{ name, counts: [1] }] }),
  ).not.toContain('<script')
})
